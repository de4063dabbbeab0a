//! Which server to connect to.

mod bare_url;
mod http;
mod tls;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use mcp_servlet_common::is_this_machine;
use url::Url;

pub(crate) use self::bare_url::bare_url;
use self::bare_url::public_text;
pub(crate) use self::http::header;
pub use self::http::{Http, HttpTransport};
pub use self::tls::{Tls, TlsVersion};

/// A server: a command that is started, or a URL.
///
/// ```
/// use mcp_servlet_client::{Command, Target};
///
/// let local = Target::from(Command::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]));
/// let remote: Target = "https://mcp.example.com/mcp".parse()?;
/// assert_eq!(remote.to_string(), "https://mcp.example.com/mcp");
///
/// let error = "localhost:8080".parse::<Target>().unwrap_err();
/// assert!(error.to_string().contains("http://localhost:8080/mcp"));
/// # Ok::<(), mcp_servlet_client::TargetError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// A process that speaks MCP over standard input and output.
    Command(Command),
    /// A server at a URL.
    Http(Box<Http>),
}

/// The command of a server. It runs without a shell.
#[derive(Clone)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    /// The only variables that are inherited; all of them without this.
    inherited: Option<Vec<OsString>>,
}

/// Why a target cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The text cannot be parsed as a URL.
    #[error("invalid URL `{text}`: {source}")]
    InvalidUrl {
        /// The text without user, password and query.
        text: String,
        /// Why it cannot be parsed.
        source: url::ParseError,
    },
    /// It looks like a host and has no scheme.
    #[error("the URL `{text}` has no scheme; write `{suggestion}`")]
    NoScheme {
        /// The text without user, password and query.
        text: String,
        /// What was probably meant.
        suggestion: String,
    },
    /// The scheme is neither `http` nor `https`.
    #[error("expected a URL with `http` or `https`, found `{scheme}`")]
    UnknownScheme {
        /// The scheme.
        scheme: String,
    },
    /// Anybody on the way could read the messages.
    #[error(
        "`{host}` is another machine, and `http` is not encrypted; use `https`, or allow `http`"
    )]
    PlainHttp {
        /// The host of the URL.
        host: String,
    },
    /// A header that the protocol sets.
    #[error("the header `{name}` cannot be set; the protocol sets it")]
    ReservedHeader {
        /// The name of the header.
        name: String,
    },
    /// A name or a value that HTTP does not allow.
    #[error("the header `{name}` is invalid; expected a name of HTTP, and a value in one line")]
    InvalidHeader {
        /// The name of the header.
        name: String,
    },
    /// An environment variable that a header or a token needs.
    #[error("the environment variable `{name}` is not set")]
    MissingVariable {
        /// The name of the variable.
        name: String,
    },
    /// An environment variable that a header or a token needs.
    #[error("the environment variable `{name}` is not UTF-8")]
    InvalidVariable {
        /// The name of the variable.
        name: String,
    },
    /// An environment variable that should have a token.
    #[error("the environment variable `{name}` is empty; expected a token")]
    EmptyVariable {
        /// The name of the variable.
        name: String,
    },
    /// A `${` without `}`.
    #[error("expected `}}` after `${{` in the header `{name}`")]
    OpenVariable {
        /// The name of the header.
        name: String,
    },
    /// A file with a certificate, a key or a list of revoked certificates.
    #[error("cannot read `{}`: {source}", path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// Why it cannot be read.
        source: std::io::Error,
    },
    /// A file that should have PEM.
    #[error("`{}` has no valid {expected} in PEM", path.display())]
    InvalidPem {
        /// The file.
        path: PathBuf,
        /// What it should contain.
        expected: &'static str,
    },
    /// Options for TLS that do not fit together.
    #[error("cannot set up TLS: {reason}")]
    Tls {
        /// The reason.
        reason: String,
    },
}

impl Command {
    /// A program, as a path or as a name in `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: None,
            inherited: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item: Into<OsString>>,
    {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable. All others are inherited, unless [`inherit_only`](Self::inherit_only) says which.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Inherits only the environment variables with these names.
    #[must_use]
    pub fn inherit_only<I>(mut self, names: I) -> Self
    where
        I: IntoIterator<Item: Into<OsString>>,
    {
        self.inherited = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The program.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The arguments, which may be secret.
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    pub(crate) fn inherited(&self) -> Option<&[OsString]> {
        self.inherited.as_deref()
    }

    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}

/// Without arguments and the values of variables, which may be secret.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("variables", &names)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self::Command(command)
    }
}

impl From<Http> for Target {
    fn from(http: Http) -> Self {
        Self::Http(Box::new(http))
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        Http::new(text).map(Self::from)
    }
}

/// Without secrets: a command is its program, with `…` for its arguments; a URL is its [name](Http::name), or has no user and
/// no query.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) if command.arguments.is_empty() => {
                write!(f, "{}", command.program.display())
            }
            Self::Command(command) => write!(f, "{} …", command.program.display()),
            Self::Http(http) => f.write_str(&http.label()),
        }
    }
}

/// Reads a URL, or says which one was probably meant.
fn parse_url(text: &str) -> Result<Url, TargetError> {
    if !text.contains("://") {
        return Err(no_scheme(public_text(text)));
    }
    let url = Url::parse(text).map_err(|source| TargetError::InvalidUrl {
        text: public_text(text),
        source,
    })?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        scheme => Err(TargetError::UnknownScheme {
            scheme: scheme.to_owned(),
        }),
    }
}

fn no_scheme(text: String) -> TargetError {
    let path = if text.contains('/') { "" } else { "/mcp" };
    let scheme = if is_this_machine(host_of(&text)) {
        "http"
    } else {
        "https"
    };
    let suggestion = format!("{scheme}://{text}{path}");
    TargetError::NoScheme { text, suggestion }
}

/// The host of a URL without scheme.
fn host_of(text: &str) -> &str {
    let authority = text
        .split('/')
        .next()
        .unwrap_or_default()
        .trim_start_matches("…@");
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests;
