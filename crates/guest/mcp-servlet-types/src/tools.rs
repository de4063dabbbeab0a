//! Calls of tools of other servers: why one fails.

/// Why a servlet has no result of a tool or a resource of another server.
///
/// The host sends the [`name`](Self::name) of the kind.
///
/// ```
/// use mcp_servlet_types::ToolsErrorKind;
///
/// assert_eq!(ToolsErrorKind::NotAllowed.name(), "not_allowed");
/// assert_eq!(ToolsErrorKind::from_name("not_allowed"), ToolsErrorKind::NotAllowed);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolsErrorKind {
    /// Any other reason.
    #[default]
    Other,
    /// The operator does not allow this call.
    NotAllowed,
    /// There is no such server, tool or resource.
    Unknown,
    /// The arguments do not match the schema of the tool.
    Arguments,
    /// The tool ran and reports a failure.
    Tool,
    /// The result does not match the type that the caller wants.
    Mismatch,
    /// There was no result in time.
    Timeout,
    /// The other servlet has no free instance.
    Busy,
    /// The call has made all the calls that it may make.
    TooMany,
    /// The result is larger than the caller may read.
    TooLarge,
    /// The host cannot call tools.
    Unsupported,
    /// The other server cannot be reached.
    Connectivity,
    /// The other server answered with an error of JSON-RPC.
    Remote,
    /// The other servlet returned a fault.
    Fault,
    /// The other servlet trapped.
    Trap,
    /// The other servlet panicked.
    Panic,
    /// The other servlet reached its limit of memory.
    OutOfMemory,
    /// The other servlet reached its limit of instructions.
    OutOfFuel,
    /// The output of the other servlet is larger than its limit.
    OutputTooLarge,
    /// The host refused something that the other servlet did.
    HostDenied,
    /// The output of the other servlet or server is not a result of MCP.
    BadOutput,
    /// The other servlet could not be started.
    Start,
}

impl ToolsErrorKind {
    /// Every kind.
    pub const ALL: [Self; 22] = [
        Self::Other,
        Self::NotAllowed,
        Self::Unknown,
        Self::Arguments,
        Self::Tool,
        Self::Mismatch,
        Self::Timeout,
        Self::Busy,
        Self::TooMany,
        Self::TooLarge,
        Self::Unsupported,
        Self::Connectivity,
        Self::Remote,
        Self::Fault,
        Self::Trap,
        Self::Panic,
        Self::OutOfMemory,
        Self::OutOfFuel,
        Self::OutputTooLarge,
        Self::HostDenied,
        Self::BadOutput,
        Self::Start,
    ];

    /// The name in JSON, such as `not_allowed`.
    #[inline]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::NotAllowed => "not_allowed",
            Self::Unknown => "unknown",
            Self::Arguments => "arguments",
            Self::Tool => "tool",
            Self::Mismatch => "mismatch",
            Self::Timeout => "timeout",
            Self::Busy => "busy",
            Self::TooMany => "too_many",
            Self::TooLarge => "too_large",
            Self::Unsupported => "unsupported",
            Self::Connectivity => "connectivity",
            Self::Remote => "remote",
            Self::Fault => "fault",
            Self::Trap => "trap",
            Self::Panic => "panic",
            Self::OutOfMemory => "out_of_memory",
            Self::OutOfFuel => "out_of_fuel",
            Self::OutputTooLarge => "output_too_large",
            Self::HostDenied => "host_denied",
            Self::BadOutput => "bad_output",
            Self::Start => "start",
        }
    }

    /// The kind with this name, or `Other`.
    #[inline]
    pub fn from_name(name: &str) -> Self {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::ToolsErrorKind;

    #[test]
    fn kinds_and_names_convert_both_ways() {
        for kind in ToolsErrorKind::ALL {
            assert_eq!(ToolsErrorKind::from_name(kind.name()), kind);
        }
        let later = ToolsErrorKind::from_name("a_kind_of_a_later_host");
        assert_eq!(later, ToolsErrorKind::Other);
    }
}
