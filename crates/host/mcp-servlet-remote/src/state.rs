//! Whether a server can be reached.

use std::sync::Arc;
use std::time::Instant;

use mcp_servlet_call::RemoteFailure;

use crate::connection::Connection;

/// Whether a server can be reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum State {
    /// The first attempt to connect is not over.
    Connecting,
    /// It is connected.
    Up,
    /// It was connected, and the connection was closed because nothing used it.
    Idle,
    /// It cannot be reached.
    Down {
        /// Since when.
        since: Instant,
        /// Why the last attempt failed.
        why: RemoteFailure,
    },
}

/// A server is not connected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("remote `{name}` cannot be {}: {}", if *is_reached { "used" } else { "reached" }, why)]
pub struct NotReady {
    /// The name of the remote.
    pub name: String,
    /// Whether it was reached.
    pub is_reached: bool,
    /// Why the last attempt failed.
    pub why: String,
    /// How to fix it, if there is general advice.
    pub help: Option<String>,
}

impl NotReady {
    pub(crate) fn new(name: &str, why: &RemoteFailure, help: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            is_reached: matches!(
                why,
                RemoteFailure::Unusable { .. } | RemoteFailure::Unauthorized { .. }
            ),
            why: reason(why),
            help,
        }
    }
}

/// The state with the connection.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    Connecting,
    Up(Arc<Connection>),
    Idle,
    Down {
        since: Instant,
        /// When the last attempt failed. None if a connection was lost just now, so that the next attempt begins at once.
        tried: Option<Instant>,
        why: RemoteFailure,
        /// How to fix it, if there is general advice.
        help: Option<String>,
    },
}

impl Link {
    pub(crate) fn state(&self) -> State {
        match self {
            Self::Connecting => State::Connecting,
            Self::Up(_) => State::Up,
            Self::Idle => State::Idle,
            Self::Down { since, why, .. } => State::Down {
                since: *since,
                why: why.clone(),
            },
        }
    }
}

/// The reason in a failure.
pub(crate) fn reason(failure: &RemoteFailure) -> String {
    match failure {
        RemoteFailure::Unreachable { why }
        | RemoteFailure::Unusable { why }
        | RemoteFailure::Unauthorized { why }
        | RemoteFailure::Throttled { why, .. }
        | RemoteFailure::NotSent { why }
        | RemoteFailure::RetriesExhausted { why, .. } => why.clone(),
        RemoteFailure::TimedOut { limit } => format!("no answer within {limit:?}"),
        RemoteFailure::Error { fault } => fault.message.clone(),
        RemoteFailure::Invalid { problem } => problem.clone(),
        other => other.name().to_owned(),
    }
}
