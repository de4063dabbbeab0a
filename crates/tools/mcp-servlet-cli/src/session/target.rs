//! The TARGET of a command is one word, which is parsed without looking at files or the network.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use mcp_servlet_client::TargetError;
use mcp_servlet_runtime::Source;

use crate::failure::{Failure, Kind};

/// The servlet or the server that a command is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A module: a file, a URL or an image in a registry.
    Module(Source),
    /// A folder of servlets, or a configuration of a server.
    Servlets(PathBuf),
    /// A catalog that was written to a file.
    Catalog(PathBuf),
    /// A server at a URL.
    Url(String),
    /// A server in the configuration of an MCP client.
    Name(String),
    /// A server that is started.
    Command(Vec<OsString>),
}

/// What a TARGET may be, for messages.
const FORMS: &str = "expected a `.wasm` file, a folder of them, a `servlet.toml`, an `http` or `https` URL, \
                     an `oci://` reference, or the name of a server in the configuration of an MCP client";

impl Target {
    /// Whether the connection options apply: it is neither a servlet nor a file with a catalog.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Self::Url(_) | Self::Name(_) | Self::Command(_))
    }

    /// Whether it is a configuration of a server.
    pub(crate) fn is_config(&self) -> bool {
        matches!(self, Self::Servlets(path) if super::is_config(path))
    }

    /// Reads a word.
    pub(crate) fn parse(word: &str) -> Result<Self, Failure> {
        if let Some((scheme, _)) = word.split_once("://") {
            return Self::url(scheme, word);
        }
        let has = |extension: &str| {
            let found = Path::new(word).extension().and_then(OsStr::to_str);
            found.is_some_and(|found| found.eq_ignore_ascii_case(extension))
        };
        let path = PathBuf::from(word);
        Ok(match word {
            _ if has("wasm") => Self::Module(Source::parse(word)),
            _ if has("json") => Self::Catalog(path),
            _ if has("toml") => Self::Servlets(path),
            _ if word.starts_with('.') || word.contains(['/', '\\']) => Self::Servlets(path),
            "" => return Err(Failure::new(Kind::Usage, FORMS)),
            _ if is_address(word) => return Err(no_scheme(word)),
            _ => Self::Name(word.to_owned()),
        })
    }

    /// Refuses a path that is not there, and begins with a host: it is probably a URL without a scheme.
    pub(super) fn check_path(&self, word: &str) -> Result<(), Failure> {
        let begins_with_host = word
            .split_once('/')
            .is_some_and(|(host, _)| !host.starts_with('.') && is_address(host));
        match self {
            Self::Servlets(path) if begins_with_host && !self.is_config() && !path.exists() => {
                Err(no_scheme(word))
            }
            _ => Ok(()),
        }
    }

    fn url(scheme: &str, word: &str) -> Result<Self, Failure> {
        if ["oci", "oci+http"].contains(&scheme) {
            return Ok(Self::Module(Source::parse(word)));
        }
        if !["http", "https"].contains(&scheme) {
            let message = format!("unknown scheme `{scheme}`; {FORMS}");
            return Err(Failure::new(Kind::Usage, message));
        }
        let path = word.split(['?', '#']).next().unwrap_or_default();
        Ok(if path.to_ascii_lowercase().ends_with(".wasm") {
            Self::Module(Source::parse(word))
        } else {
            Self::Url(word.to_owned())
        })
    }
}

/// Whether a word looks like a host with or without a port.
fn is_address(word: &str) -> bool {
    let port = word.rsplit_once(':').map(|(_, port)| port);
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.contains('.') || port.is_some_and(is_port)
}

fn no_scheme(word: &str) -> Failure {
    // Without the query, which may have a key.
    let (shown, url) = match word.parse::<mcp_servlet_client::Target>() {
        Err(TargetError::NoScheme { text, suggestion }) => (text, suggestion),
        _ => (word.to_owned(), format!("https://{word}/mcp")),
    };
    let help = if shown.contains('/') {
        format!("write `{url}` for a server, or a path that exists")
    } else {
        format!(
            "write `{url}` for a server, `./{shown}` for a file, or `--server {shown}` for a name in the configuration of an MCP client"
        )
    };
    let message = format!("`{shown}` is neither a URL nor a path");
    Failure::with_help(Kind::Usage, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_word_decides() {
        let module = |text| Target::Module(Source::parse(text));
        let servlets = |text: &str| Target::Servlets(text.into());
        for (word, target) in [
            ("greet.wasm", module("greet.wasm")),
            ("a/greet.WASM", module("a/greet.WASM")),
            ("https://h/a.wasm", module("https://h/a.wasm")),
            (
                "https://h/a.wasm?v=1#sha256=00",
                module("https://h/a.wasm?v=1#sha256=00"),
            ),
            ("oci://h.io/a:1", module("oci://h.io/a:1")),
            (
                "oci+http://localhost:5000/a:1",
                module("oci+http://localhost:5000/a:1"),
            ),
            ("servlet.toml", servlets("servlet.toml")),
            ("target/servlets/", servlets("target/servlets/")),
            (r"C:\servlets", servlets(r"C:\servlets")),
            (".", servlets(".")),
            ("./greet", servlets("./greet")),
            ("old.json", Target::Catalog("old.json".into())),
            (
                "http://localhost:1",
                Target::Url("http://localhost:1".to_owned()),
            ),
            ("https://h/wasm", Target::Url("https://h/wasm".to_owned())),
            ("demo", Target::Name("demo".to_owned())),
            ("cursor:demo", Target::Name("cursor:demo".to_owned())),
        ] {
            assert_eq!(Target::parse(word).expect(word), target);
        }
    }

    #[test]
    fn a_host_without_scheme_gets_the_url_that_was_probably_meant() {
        for (word, url) in [
            ("localhost:8080", "`http://localhost:8080/mcp`"),
            ("mcp.example.com", "`https://mcp.example.com/mcp`"),
        ] {
            let Err(Failure::Message { help, .. }) = Target::parse(word) else {
                panic!("expected an error for {word}");
            };
            assert!(help.expect("help").contains(url), "{word}");
        }
        for word in ["", "ftp://host/a.wasm"] {
            let Err(Failure::Message { message, .. }) = Target::parse(word) else {
                panic!("expected an error for {word}");
            };
            assert!(message.contains("expected a `.wasm` file"), "{message}");
        }
    }
}
