//! How calls end that give no output.

use std::time::Duration;

use crate::{call::Reason, exchange::Denied};

/// What Extism says of a servlet that takes too much memory.
pub(super) const OUT_OF_MEMORY: &str = "oom";

/// What Extism says of a servlet that ended itself by WASI's `proc_exit`.
const EXIT: &str = "Exited with i32 exit status";

/// How a call ended that gave no output.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The servlet returned an error text and can go on.
    Error(String),
    /// The servlet set an error text and then trapped.
    Panic(String),
    /// The runtime or a host function stopped the servlet.
    Trap(String),
    /// A new instance could not be made.
    Start(String),
    /// It sent an HTTP request that the operator does not allow.
    Denied(Denied),
    /// It was stopped from outside.
    Stopped(Reason),
    OutOfMemory,
    /// The output has that many bytes.
    TooLarge(u64),
    /// So many calls are waiting already.
    QueueFull(usize),
    /// No instance was free for that long.
    Waited(Duration),
}

impl Stop {
    /// Sorts an error of Extism, which has one type for all of them.
    pub(super) fn sort(error: &extism::Error, reason: Option<Reason>) -> Self {
        if let Some(reason) = reason {
            return Self::Stopped(reason);
        }
        let cause = error.root_cause().to_string();
        // Around a text that the servlet had set, Extism puts what stopped the servlet after that.
        let stopper = error.downcast_ref::<wasmtime::Error>();
        match cause.as_str() {
            OUT_OF_MEMORY => Self::OutOfMemory,
            _ if stopper.is_some() => Self::Panic(cause),
            _ if error.chain().count() > 1 => Self::Trap(cause),
            _ => Self::Error(cause),
        }
    }

    /// The same where standard error says why an instance trapped, or ended itself.
    pub(super) fn because(self, reason: Option<String>) -> Self {
        match (self, reason) {
            (Self::Trap(_), Some(reason)) => Self::Panic(reason),
            (Self::Error(text), Some(reason)) if text.starts_with(EXIT) => Self::Panic(reason),
            (stop, _) => stop,
        }
    }

    /// The same for what an instance runs before its first call.
    pub(super) fn at_start(self) -> Self {
        Self::Start(match self {
            Self::Error(text) | Self::Panic(text) | Self::Trap(text) => text,
            Self::Denied(denied) => denied.to_string(),
            Self::OutOfMemory => "it takes more memory than it may".to_owned(),
            Self::Stopped(Reason::Deadline(limit)) => {
                format!("the code that it runs before the first call took longer than {limit:?}")
            }
            other => return other,
        })
    }
}
