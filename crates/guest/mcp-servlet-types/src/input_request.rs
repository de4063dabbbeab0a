//! Requests for input from the client, and how hosts find out which of them a servlet can send.
//!
//! The data of a module contains the beginning of each request that its code can send, and of no other.

/// A kind of request for input from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRequestKind {
    /// A form for the user: `elicitation/create`.
    Elicitation,
    /// A prompt for the client's model: `sampling/createMessage`.
    Sampling,
    /// The client's roots: `roots/list`.
    Roots,
}

impl InputRequestKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// The beginning of the request as JSON, up to its method.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::Elicitation => "{\"method\":\"elicitation/create\"",
            Self::Sampling => "{\"method\":\"sampling/createMessage\"",
            Self::Roots => "{\"method\":\"roots/list\"",
        }
    }

    /// The capability that a client needs for it.
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }
}
