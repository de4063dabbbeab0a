//! The levels of the log.

/// How important a line of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every step.
    Trace,
    /// What a developer wants to know.
    Debug,
    /// What an operator wants to know.
    Info,
    /// Something is wrong, but the servlet goes on.
    Warn,
    /// Something failed.
    Error,
}

impl Level {
    /// MCP's name for the level, one of those in RFC 5424.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Trace | Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warning",
            Self::Error => "error",
        }
    }
}
