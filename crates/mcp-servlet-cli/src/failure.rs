//! How a command ends when it does not succeed.

use std::{error::Error, io, process::ExitCode};

use mcp_servlet_host::LoadError;
use mcp_servlet_runtime::{CallError, CallErrorKind, Fault, LoadError as ModuleError};
use mcp_servlet_schema::ArgumentError;
use mcp_servlet_server::config::ConfigError;

use crate::terminal::note;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads the output any more, which is not the command's fault.
    NoReader,
    /// The answer of the tool is an error, and has been shown.
    ToolError,
    /// A test failed, and has been shown.
    TestsFailed,
    /// A check found something that will not do, and has shown it.
    CheckFailed,
    /// Something that has been shown.
    Shown(Kind),
    /// Something to tell.
    Told {
        kind: Kind,
        message: String,
        help: Option<String>,
    },
}

/// Who has to do something about it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Whoever typed the command.
    Usage = 2,
    /// Whoever wrote the servlet.
    Servlet = 3,
    /// Whoever builds the servlet.
    Build = 4,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self::Told {
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
        Self::Told {
            kind,
            message: message.into(),
            help: Some(help.into()),
        }
    }

    /// Says what happened and gives the exit code for it.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::NoReader => ExitCode::SUCCESS,
            Self::ToolError | Self::TestsFailed | Self::CheckFailed => ExitCode::FAILURE,
            Self::Shown(kind) => ExitCode::from(kind as u8),
            Self::Told {
                kind,
                message,
                help,
            } => {
                note(format_args!("error: {message}"));
                if let Some(help) = help {
                    note(format_args!("  help: {}", indented(&help, "        ")));
                }
                ExitCode::from(kind as u8)
            }
        }
    }
}

impl From<ModuleError> for Failure {
    fn from(error: ModuleError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let kind = match &error {
            LoadError::Module(ModuleError::NoDigest { .. }) => Kind::Usage,
            _ => Kind::Servlet,
        };
        Self::Told {
            kind,
            message: indented(&chain(&error), "  "),
            help: error.help(),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let help = match &error.kind {
            CallErrorKind::HostDenied { option, .. } => Some(option.clone()),
            CallErrorKind::Timeout { .. } => Some("--timeout gives it longer".into()),
            CallErrorKind::OutOfMemory { .. } => Some("--memory gives it more".into()),
            _ => error.help(),
        };
        let (kind, message) = match &error.kind {
            CallErrorKind::UnknownTool { .. }
            | CallErrorKind::UnknownPrompt { .. }
            | CallErrorKind::UnknownResource { .. } => (Kind::Usage, chain(&error)),
            CallErrorKind::Fault { fault, .. } => (
                if fault.code == Fault::INVALID_PARAMS {
                    Kind::Usage
                } else {
                    Kind::Servlet
                },
                format!("{} (code {})", fault.message, fault.code),
            ),
            _ => (Kind::Servlet, chain(&error)),
        };
        Self::Told {
            kind,
            message: indented(&message, "  "),
            help,
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new(Kind::Usage, chain(&error))
    }
}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Self::Told {
            kind: Kind::Usage,
            message: indented(&chain(&error), "  "),
            help: error.help(),
        }
    }
}

/// Mostly it is the output that cannot be written; reading has messages of its own.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NoReader,
            _ => Self::new(Kind::Usage, format!("the system refuses: {error}")),
        }
    }
}

/// No later line of a message begins where a message of this command does: the text may come from a servlet.
pub(crate) fn indented(message: &str, margin: &str) -> String {
    message.replace('\n', &format!("\n{margin}"))
}

/// The message of an error and of all its causes.
pub(crate) fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_leaves_is_no_failure() {
        let gone = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(gone, Failure::NoReader));
    }
}
