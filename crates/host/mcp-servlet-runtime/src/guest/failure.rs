//! Turns the end of a run without output into the error of its call.

use mcp_servlet_call::{CallError, CallErrorKind, HttpDenied, Limits, RpcError};

use super::Guest;
use crate::{engine::Stop, fault, options::ErrorTexts};

impl Guest {
    /// The servlet's error message as clients get it.
    fn shown(&self, export: &'static str, text: String) -> String {
        if self.options.errors == ErrorTexts::Shown {
            return text;
        }
        tracing::error!(servlet = self.name, export, "{text}");
        "the log of the server says why".to_owned()
    }

    pub(super) fn error(&self, export: &'static str, limits: &Limits, stop: Stop) -> CallError {
        let running = match stop {
            Stop::Start(_) | Stop::QueueFull(_) | Stop::Waited(_) => None,
            _ => Some(export),
        };
        let kind = match stop {
            Stop::Error(text) => CallErrorKind::Fault {
                fault: Box::new(fault::parse(&text).unwrap_or_else(|| {
                    RpcError::internal(&self.name, Some(export), self.shown(export, text))
                })),
            },
            Stop::Panic(message) => CallErrorKind::Panic {
                message: self.shown(export, with_cause(message)),
            },
            Stop::Denied(HttpDenied { origin, option, .. }) => CallErrorKind::HostDenied {
                url: origin,
                option,
            },
            Stop::Trap(message) => CallErrorKind::Trap {
                message: with_cause(message),
            },
            Stop::Start(message) => CallErrorKind::Start {
                message: self.shown(export, with_cause(message)),
            },
            Stop::Deadline(limit) => CallErrorKind::Timeout { limit },
            Stop::OutOfMemory => CallErrorKind::OutOfMemory {
                limit: limits.memory.value().unwrap_or(u64::MAX),
            },
            Stop::OutOfFuel => CallErrorKind::OutOfFuel {
                limit: limits.fuel.value().unwrap_or(u64::MAX),
            },
            Stop::TooLarge(size) => CallErrorKind::OutputTooLarge {
                size,
                limit: limits.output.value().unwrap_or(u64::MAX),
            },
            Stop::QueueFull(waiting) => CallErrorKind::Busy { waiting },
            Stop::Waited(limit) => CallErrorKind::Waited { limit },
        };
        kind.at(&self.name, running)
    }
}

/// Messages of std that have one likely cause in a servlet, with that cause.
const CAUSES: [(&str, &str); 2] = [
    (
        "time not implemented on this platform",
        "`SystemTime::now` and `Instant::now` need WASI; \
        use `Context::now`, or build with `servlet build --target wasm32-wasip1`",
    ),
    (
        "failed to spawn thread",
        "a servlet has one thread; do the work in the call itself",
    ),
];

/// The message with its likely cause in parentheses.
fn with_cause(message: String) -> String {
    let known = CAUSES.iter().find(|(text, _)| message.contains(text));
    known.map_or(message.clone(), |(_, cause)| format!("{message} ({cause})"))
}
