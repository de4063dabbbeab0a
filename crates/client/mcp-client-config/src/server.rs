//! A server as a configuration describes it.

use std::{fmt, path::PathBuf, time::Duration};

use crate::source::Source;

/// A server in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The name in the file.
    pub name: String,
    /// The client that the file belongs to.
    pub source: Source,
    /// The file.
    pub path: PathBuf,
    /// Whether the file says not to use the server.
    pub is_disabled: bool,
    /// How long starting may take, if the file says so.
    pub startup_timeout: Option<Duration>,
    /// How long a call may take, if the file says so.
    pub timeout: Option<Duration>,
    /// How to reach the server. Texts may have placeholders.
    pub connection: Connection,
}

/// How to reach a server. `Debug` shows neither arguments nor the URL, because people write tokens into both.
#[derive(Clone, PartialEq, Eq)]
pub enum Connection {
    /// A program that speaks MCP over its standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Environment variables.
        env: Vec<(String, Secret)>,
        /// The folder to start in.
        cwd: Option<String>,
    },
    /// A server at a URL.
    Http {
        /// The URL.
        url: String,
        /// The transport.
        transport: Transport,
        /// Headers of every request.
        headers: Vec<(String, Secret)>,
    },
}

impl Connection {
    /// The texts that are paths: the program, its folder, and all that begin with the letter of a drive.
    pub(crate) fn paths(&self) -> Vec<&str> {
        let Self::Command {
            command,
            args,
            env,
            cwd,
        } = self
        else {
            return Vec::new();
        };
        let values = env.iter().map(|(_, value)| value.expose());
        let others = args.iter().map(String::as_str).chain(values);
        let on_drives = others.filter(|text| {
            let (letter, rest) = text.split_at_checked(1).unwrap_or_default();
            letter.chars().all(|letter| letter.is_ascii_alphabetic()) && rest.starts_with(':')
        });
        let paths = [Some(&**command), cwd.as_deref()];
        paths.into_iter().flatten().chain(on_drives).collect()
    }
}

/// A transport over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// The file does not say which.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, the older one.
    Sse,
}

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command {
                command, env, cwd, ..
            } => out
                .debug_struct("Command")
                .field("command", command)
                .field("env", env)
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Http {
                transport, headers, ..
            } => out
                .debug_struct("Http")
                .field("transport", transport)
                .field("headers", headers)
                .finish_non_exhaustive(),
        }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("…")
    }
}
