//! How calls end without output.

use std::time::Duration;

use mcp_servlet_call::{HttpDenied, HttpFailure};
use wasmtime::{Error, Trap};

use crate::state::limiter::OutOfMemory;

/// How a call ended without output.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The servlet returned an error message and can go on.
    Error(String),
    /// The servlet set an error message and then trapped.
    Panic(String),
    /// The runtime or a host function stopped the servlet.
    Trap(String),
    /// A new instance could not be made.
    Start(String),
    /// The servlet sent an HTTP request that the operator does not allow.
    Denied(HttpDenied),
    /// The call reached its time limit.
    Deadline(Duration),
    OutOfMemory,
    OutOfFuel,
    /// The output has this many bytes, more than its limit.
    TooLarge(u64),
    /// The queue is full; this many calls are waiting.
    QueueFull(usize),
    /// No instance became free within this time.
    Waited(Duration),
}

impl Stop {
    /// How a call ended that trapped, or in which a host function failed.
    pub(super) fn of(error: &Error) -> Self {
        if error.is::<OutOfMemory>() {
            return Self::OutOfMemory;
        }
        if error.downcast_ref() == Some(&Trap::OutOfFuel) {
            return Self::OutOfFuel;
        }
        let failure = error.downcast_ref::<HttpFailure>();
        match failure.and_then(|failure| failure.denied.clone()) {
            Some(denied) => Self::Denied(denied),
            None => Self::Trap(trap(error)),
        }
    }

    /// Why an instance cannot be made.
    pub(super) fn start(error: &Error) -> Self {
        Self::Start(format!("{error:#}"))
    }

    /// Marks a failure that happened before the first call.
    pub(super) fn at_start(self) -> Self {
        Self::Start(match self {
            Self::Error(text) | Self::Panic(text) | Self::Trap(text) => text,
            Self::Denied(denied) => denied.to_string(),
            Self::OutOfMemory => OutOfMemory.to_string(),
            Self::OutOfFuel => {
                "the code that it runs before the first call ran out of fuel".to_owned()
            }
            Self::Deadline(limit) => {
                format!("the code that it runs before the first call took longer than {limit:?}")
            }
            other => return other,
        })
    }
}

/// The message of a trap, with its likely cause in parentheses.
///
/// The stack of a Rust servlet begins at the start of its memory and grows down, so a stack
/// overflow is an access below 0.
fn trap(error: &Error) -> String {
    let message = error.root_cause().to_string();
    let cause = match error.downcast_ref() {
        Some(Trap::MemoryOutOfBounds) => {
            "most likely a stack overflow: recursion without end, or a large array that is not in a `Box` or `Vec`"
        }
        Some(Trap::StackOverflow) => "most likely recursion without end",
        _ => return message,
    };
    format!("{message} ({cause})")
}
