//! From how a run ended without output to the error of the call.

use crate::{
    CallError, ErrorTexts, Fault, Servlet,
    engine::{Reason, Stop},
    http::Denied,
    limits::Limits,
};

impl Servlet {
    /// What clients get of the text that the servlet failed with.
    fn shown(&self, export: &'static str, text: String) -> String {
        if self.options.errors == ErrorTexts::Shown {
            return text;
        }
        tracing::error!(servlet = self.name, export, "{text}");
        "the log of the server says why".to_owned()
    }

    pub(super) fn error(&self, export: &'static str, limits: &Limits, stop: Stop) -> CallError {
        let servlet = self.name.clone();
        match stop {
            Stop::Error(text) => {
                let fault = Fault::parse(&text);
                let fault = fault.unwrap_or_else(|| {
                    Fault::internal(&servlet, Some(export), self.shown(export, text))
                });
                CallError::Fault {
                    servlet,
                    export,
                    fault: Box::new(fault),
                }
            }
            Stop::Panic(message) => CallError::Panic {
                servlet,
                export,
                message: self.shown(export, message),
            },
            Stop::Trap(message) => match Denied::parse(&message) {
                Some(Denied { origin, option }) => CallError::HostDenied {
                    url: origin.to_owned(),
                    option: option.to_owned(),
                    servlet,
                    export,
                },
                None => CallError::Trap {
                    servlet,
                    export,
                    message,
                },
            },
            Stop::Start(message) => CallError::Start {
                servlet,
                message: self.shown(export, message),
            },
            Stop::Stopped(Reason::Deadline(limit)) => CallError::Timeout {
                servlet,
                export,
                limit,
            },
            Stop::Stopped(Reason::Cancelled) => CallError::Cancelled,
            Stop::OutOfMemory => CallError::OutOfMemory {
                servlet,
                export,
                limit: limits.memory.unwrap_or(u64::MAX),
            },
            Stop::TooLarge(size) => CallError::OutputTooLarge {
                servlet,
                export,
                size,
                limit: limits.output.unwrap_or(u64::MAX),
            },
            Stop::QueueFull(waiting) => CallError::Busy { servlet, waiting },
            Stop::Waited(limit) => CallError::Waited { servlet, limit },
        }
    }
}
