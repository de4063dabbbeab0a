//! How calls end without output.

use std::time::Duration;

use crate::{call::Reason, exchange::Denied};

/// Extism's message for a servlet that exceeds its memory limit.
pub(super) const OUT_OF_MEMORY: &str = "oom";

/// Extism's message for a servlet that ends itself with WASI's `proc_exit`.
const EXIT: &str = "Exited with i32 exit status";

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
    Denied(Denied),
    /// The call was stopped from outside.
    Stopped(Reason),
    OutOfMemory,
    /// The output has this many bytes, more than its limit.
    TooLarge(u64),
    /// The queue is full; this many calls are waiting.
    QueueFull(usize),
    /// No instance became free within this time.
    Waited(Duration),
}

impl Stop {
    /// Sorts an error of Extism, which has one type for all errors.
    pub(super) fn sort(error: &extism::Error, reason: Option<Reason>) -> Self {
        if let Some(reason) = reason {
            return Self::Stopped(reason);
        }
        let cause = error.root_cause().to_string();
        // If the servlet set an error message and then trapped, Extism wraps the trap around that message.
        let stopper = error.downcast_ref::<wasmtime::Error>();
        match cause.as_str() {
            OUT_OF_MEMORY => Self::OutOfMemory,
            _ if stopper.is_some() => Self::Panic(cause),
            _ if error.chain().count() > 1 => Self::Trap(cause),
            _ => Self::Error(cause),
        }
    }

    /// Uses the reason on standard error, if there is one, for an instance that trapped or ended itself.
    pub(super) fn because(self, reason: Option<String>) -> Self {
        match (self, reason) {
            (Self::Trap(_), Some(reason)) => Self::Panic(reason),
            (Self::Error(text), Some(reason)) if text.starts_with(EXIT) => Self::Panic(reason),
            (stop, _) => stop,
        }
    }

    /// Marks a failure that happened before the first call.
    pub(super) fn at_start(self) -> Self {
        Self::Start(match self {
            Self::Error(text) | Self::Panic(text) | Self::Trap(text) => text,
            Self::Denied(denied) => denied.to_string(),
            Self::OutOfMemory => "it exceeds its memory limit".to_owned(),
            Self::Stopped(Reason::Deadline(limit)) => {
                format!("the code that it runs before the first call took longer than {limit:?}")
            }
            other => return other,
        })
    }
}
