//! `servlet.toml`.

use std::path::Path;

use mcp_servlet_config::{Config, ConfigError};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Err(ConfigError::Wrong { problems, .. }) = Config::parse(Path::new("servlet.toml"), text)
    {
        assert!(!problems.is_empty());
        for problem in problems {
            assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
        }
    }
}
