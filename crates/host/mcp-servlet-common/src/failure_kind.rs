//! Kinds of failed calls.

/// The kind of a failed call, as `catches` name it. Cancelled calls, and calls of unknown tools or prompts, have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The tool returned an error with a code for programs.
    Tool,
    /// The servlet returned a JSON-RPC error.
    Fault,
    /// The call took too long.
    Timeout,
    /// The servlet ran out of memory.
    OutOfMemory,
    /// The servlet ran out of fuel.
    OutOfFuel,
    /// The output was too large.
    OutputTooLarge,
    /// The runtime stopped the servlet.
    Trap,
    /// The servlet panicked.
    Panic,
    /// The servlet sent a request that its options do not allow.
    HostDenied,
    /// The output was not a result.
    BadOutput,
    /// No instance could be created.
    Start,
    /// Too many calls are running.
    Busy,
    /// A remote server cannot be reached.
    Connectivity,
    /// A remote server returned a JSON-RPC error.
    Remote,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::Tool,
        Self::Fault,
        Self::Timeout,
        Self::OutOfMemory,
        Self::OutOfFuel,
        Self::OutputTooLarge,
        Self::Trap,
        Self::Panic,
        Self::HostDenied,
        Self::BadOutput,
        Self::Start,
        Self::Busy,
        Self::Connectivity,
        Self::Remote,
    ];

    /// The name in a catch, such as `out_of_memory`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Fault => "fault",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::OutOfFuel => "out_of_fuel",
            Self::OutputTooLarge => "output_too_large",
            Self::Trap => "trap",
            Self::Panic => "panic",
            Self::HostDenied => "host_denied",
            Self::BadOutput => "bad_output",
            Self::Start => "start",
            Self::Busy => "busy",
            Self::Connectivity => "connectivity",
            Self::Remote => "remote",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
