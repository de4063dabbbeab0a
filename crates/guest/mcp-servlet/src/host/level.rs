//! The levels of the log.

/// The level of a log entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Every step.
    Trace,
    /// Information for developers.
    Debug,
    /// Information for operators.
    Info,
    /// Something is wrong, but the servlet continues.
    Warn,
    /// Something failed.
    Error,
}

impl Level {
    /// MCP's name for the level, from RFC 5424.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Trace | Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warning",
            Self::Error => "error",
        }
    }
}
