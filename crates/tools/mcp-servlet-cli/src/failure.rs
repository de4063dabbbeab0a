//! Failures and exit codes.

use std::{
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

pub(crate) use mcp_servlet_call::chain;
use mcp_servlet_call::{CallError, CallErrorKind, RpcError};
use mcp_servlet_client::{Error as ServerError, ErrorKind};
use mcp_servlet_config::ConfigError;
use mcp_servlet_host::{FailedLoad, LoadError};
use mcp_servlet_runtime::{LoadError as ModuleError, RegistryError};
use mcp_servlet_schema::ArgumentError;
use mcp_servlet_server::{NotReady, ServeError, StartError};

use serde_json::{Value, json};

use crate::{
    credentials::hidden,
    terminal::{self, note, one_line},
};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The tool returned an error, which has been printed.
    ToolError,
    /// A test failed, and the failure has been printed.
    TestsFailed,
    /// A check failed, and the findings have been printed.
    CheckFailed,
    /// An error that has been printed.
    Shown(Kind),
    /// An error of a session with a server.
    Server {
        error: Box<ServerError>,
        /// What to call the server, if its own text may be secret.
        name: Option<String>,
    },
    /// An error that [`Failure::report`] prints.
    Message {
        kind: Kind,
        message: String,
        help: Option<String>,
    },
}

/// The person who can fix a failure, as exit codes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// The user of the command.
    Usage,
    /// The author of the servlet.
    Servlet,
    /// The person who builds the servlet.
    Build,
    /// A file or standard output that cannot be written, for example because the disk is full.
    Output,
    /// It depends on this kind of error of a session.
    Server(ErrorKind),
}

impl Kind {
    fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Servlet => 3,
            Self::Build => 4,
            Self::Output => 5,
            Self::Server(kind) => kind.exit_code(),
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self::Message {
            kind,
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(
        kind: Kind,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::Message {
            kind,
            message: message.into(),
            help: Some(help.into()),
        }
    }

    /// The failure of a remote that is not ready.
    pub(crate) fn of_remote(error: NotReady) -> Self {
        let kind = if error.is_reached {
            ErrorKind::Protocol
        } else {
            ErrorKind::Connectivity
        };
        Self::Message {
            kind: Kind::Server(kind),
            message: indented(&error.to_string(), "  "),
            help: error.help,
        }
    }

    /// Calls the server of an error by this name.
    pub(crate) fn of_server(self, called: Option<String>) -> Self {
        match self {
            Self::Server { error, name } => Self::Server {
                error,
                name: name.or(called),
            },
            other => other,
        }
    }

    /// The same failure with the exit code that a command without a session has: the servlet runs in this process.
    pub(crate) fn of_servlet(self) -> Self {
        let Self::Server { error, .. } = self else {
            return self;
        };
        let kind = match error.kind() {
            ErrorKind::InvalidParams | ErrorKind::InvalidUri => Kind::Usage,
            _ => Kind::Servlet,
        };
        Self::Message {
            kind,
            message: indented(error.message(), "  "),
            help: error.help().map(str::to_owned),
        }
    }

    /// Prints an error of a session for programs.
    pub(crate) fn print_json(&self) -> io::Result<()> {
        let json = match self {
            Self::Server { error, .. } => json_of(error),
            Self::Message {
                kind: Kind::Server(kind),
                message,
                ..
            } => json!({ "kind": kind.code(), "message": message }),
            _ => return Ok(()),
        };
        writeln!(terminal::json(), "{}", json!({ "error": json }))
    }

    /// Prints the error and returns its exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::ToolError | Self::TestsFailed | Self::CheckFailed => ExitCode::FAILURE,
            Self::Shown(kind) => ExitCode::from(kind.exit_code()),
            Self::Server { error, name } => {
                report_server(&error, name.as_deref());
                ExitCode::from(error.kind().exit_code())
            }
            Self::Message {
                kind,
                message,
                help,
            } => {
                note(format_args!("error: {}", hidden(&message)));
                if let Some(help) = help {
                    let help = indented(&help, "        ");
                    note(format_args!("  help: {}", hidden(&help)));
                }
                ExitCode::from(kind.exit_code())
            }
        }
    }
}

/// Prints an error of a session: what is wrong, where and what to do. All of it may come from the server.
fn report_server(error: &ServerError, name: Option<&str>) {
    let target = name.or(error.target());
    let place = match (error.operation(), target) {
        (Some(operation), Some(target)) => format!(": {operation} of `{target}`"),
        (Some(operation), None) => format!(": {operation}"),
        (None, Some(target)) => format!(": `{target}`"),
        (None, None) => String::new(),
    };
    let message = format!("{}{place}", error.message());
    note(format_args!("error: {}", hidden(&indented(&message, "  "))));
    for line in error.stderr() {
        note(format_args!(
            "  standard error: {}",
            one_line(&hidden(line))
        ));
    }
    if let Some(help) = error.help() {
        note(format_args!(
            "  help: {}",
            hidden(&indented(help, "        "))
        ));
    }
}

fn json_of(error: &ServerError) -> Value {
    let mut json = json!({ "kind": error.kind().code(), "message": error.message() });
    if let Some(code) = error.code() {
        json["code"] = code.into();
    }
    if let Some(data) = error.data() {
        json["data"] = data.clone();
    }
    json
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        Self::Server {
            error: Box::new(error),
            name: None,
        }
    }
}

impl From<ModuleError> for Failure {
    fn from(error: ModuleError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        ModuleError::from(error).into()
    }
}

/// The kind of an error of a registry, for every command that gets a module from one.
fn kind_of_registry(error: &RegistryError) -> Kind {
    match error {
        RegistryError::Unauthorized { .. }
        | RegistryError::Denied { .. }
        | RegistryError::Credentials { .. } => Kind::Server(ErrorKind::Authentication),
        error if error.is_outage() => Kind::Server(ErrorKind::Connectivity),
        error if error.is_usage() => Kind::Usage,
        _ => Kind::Servlet,
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let kind = match &error {
            LoadError::Module(ModuleError::NoDigest { .. }) => Kind::Usage,
            LoadError::Module(ModuleError::Registry(error)) => kind_of_registry(error),
            _ => Kind::Servlet,
        };
        Self::Message {
            kind,
            message: indented(&chain(&error), "  "),
            help: error.help(),
        }
    }
}

impl From<FailedLoad> for Failure {
    fn from(failed: FailedLoad) -> Self {
        LoadError::from(failed).into()
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let help = match &error.kind {
            CallErrorKind::HostDenied { option, .. } => Some(option.clone()),
            CallErrorKind::Timeout { .. } => Some("raise `--timeout`".into()),
            CallErrorKind::OutOfMemory { .. } => Some("raise `--memory`".into()),
            CallErrorKind::OutOfFuel { .. } => Some("raise `--fuel`".into()),
            _ => error.help(),
        };
        let (kind, message) = match &error.kind {
            CallErrorKind::UnknownTool { .. }
            | CallErrorKind::UnknownPrompt { .. }
            | CallErrorKind::UnknownResource { .. } => (Kind::Usage, chain(&error)),
            CallErrorKind::Fault { fault, .. } => (
                if fault.code == RpcError::INVALID_PARAMS {
                    Kind::Usage
                } else {
                    Kind::Servlet
                },
                format!("{} (code {})", fault.message, fault.code),
            ),
            _ => (Kind::Servlet, chain(&error)),
        };
        Self::Message {
            kind,
            message: indented(&message, "  "),
            help,
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        match error {
            error @ ConfigError::Load { .. } => Self::Message {
                kind: Kind::Servlet,
                message: indented(&error.to_string(), "  "),
                help: error.help(),
            },
            error => Self::new(Kind::Usage, chain(&error)),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Config(error) => match error.downcast::<ConfigError>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::new(Kind::Usage, chain(&*error)),
            },
            StartError::Load(failed) => (*failed).into(),
            StartError::Bind(error) => Self::Message {
                kind: Kind::Usage,
                message: chain(&error),
                help: listen_help(error.source.kind()).map(str::to_owned),
            },
            StartError::Records(error) => Self::new(Kind::Usage, chain(&error)),
            StartError::NoEndpoint { ref known, .. } => {
                let help = match &**known {
                    [] => "leave `--endpoint` out: the configuration has no endpoints".to_owned(),
                    known => format!("its endpoints are `{}`", known.join("`, `")),
                };
                Self::with_help(Kind::Usage, error.to_string(), help)
            }
            StartError::Circle(problem) => Self::new(Kind::Usage, problem),
            error => Self::new(Kind::Servlet, error.to_string()),
        }
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        Self::new(Kind::Usage, chain(&error))
    }
}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Self::Message {
            kind: Kind::Usage,
            message: indented(&chain(&error), "  "),
            help: error.help(),
        }
    }
}

/// What to do about an address on which a server cannot listen.
fn listen_help(problem: io::ErrorKind) -> Option<&'static str> {
    match problem {
        io::ErrorKind::AddrInUse => Some(
            "end the program that listens there, or choose another port; port 0 takes any that is free",
        ),
        io::ErrorKind::AddrNotAvailable => {
            Some("choose an address of this machine; `0.0.0.0` listens on all of them")
        }
        io::ErrorKind::PermissionDenied => Some("choose a port above 1023"),
        _ => None,
    }
}

/// Almost always a write error: errors while reading have messages of their own.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(Kind::Output, format!("input or output failed: {error}"))
    }
}

/// A file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write `{}`: {error}", path.display());
    Failure::new(Kind::Output, message)
}

/// The first failure of two steps. Prints the second, if both fail.
pub(crate) fn both(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    if first.is_err()
        && let Err(failure) = second
    {
        failure.report();
        return first;
    }
    first.and(second)
}

/// Indents all lines but the first. The text may come from a servlet, and must not look like a
/// message of this command.
pub(crate) fn indented(message: &str, margin: &str) -> String {
    message.replace('\n', &format!("\n{margin}"))
}
