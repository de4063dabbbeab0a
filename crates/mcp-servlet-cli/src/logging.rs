//! Logs: to standard error, as many as asked for.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

/// Starts logging. `RUST_LOG` wins over `-v`.
pub(crate) fn start(verbose: u8) {
    let level = ["warn", "info", "debug", "trace"][usize::from(verbose.min(3))];
    // Extism and rmcp repeat at length what the commands report themselves.
    let quiet = if verbose < 2 {
        "extism=off,rmcp=off"
    } else {
        "extism=off"
    };
    let default = || EnvFilter::new(format!("{level},{quiet}"));
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| default()))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .without_time()
        .init();
}
