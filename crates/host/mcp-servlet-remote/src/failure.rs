//! Errors of the client, as errors of a host.

use std::time::Duration;

use mcp_servlet_call::{CallError, CallErrorKind, RemoteFailure, RpcError};
use mcp_servlet_client::{Error, ErrorKind};

/// Why a request has no result. `limit` is its time limit.
pub(crate) fn failure(error: &Error, limit: Duration) -> RemoteFailure {
    let why = || error.message().to_owned();
    match error.kind() {
        ErrorKind::RequestTimeout => RemoteFailure::TimedOut { limit },
        ErrorKind::Authentication => RemoteFailure::Unauthorized { why: why() },
        ErrorKind::Connectivity if let Some(after) = error.retry_after() => {
            RemoteFailure::Throttled {
                why: why(),
                retry_after: after.to_owned(),
            }
        }
        ErrorKind::Connectivity
        | ErrorKind::RetryExhausted
        | ErrorKind::SessionInvalid
        | ErrorKind::Cancelled => RemoteFailure::Unreachable { why: why() },
        _ => match error.code() {
            Some(code) => RemoteFailure::Error {
                fault: Box::new(RpcError {
                    code: i32::try_from(code).unwrap_or(RpcError::INTERNAL),
                    message: why(),
                    data: error.data().cloned(),
                }),
            },
            None => RemoteFailure::Invalid {
                problem: exceeded(error).unwrap_or_else(why),
            },
        },
    }
}

/// The message about a limit of a remote, with the key that sets it.
fn exceeded(error: &Error) -> Option<String> {
    let key = ["message", "entries", "lists"]
        .into_iter()
        .find(|key| error.limit() == Some(key))?;
    Some(format!(
        "{}, as `limits.{key}` of the remote says",
        error.message()
    ))
}

/// Why there is no connection.
pub(crate) fn not_connected(error: &Error) -> RemoteFailure {
    let why = exceeded(error).unwrap_or_else(|| error.message().to_owned());
    match error.kind() {
        ErrorKind::Connectivity | ErrorKind::RequestTimeout | ErrorKind::RetryExhausted => {
            RemoteFailure::Unreachable { why }
        }
        ErrorKind::Authentication => RemoteFailure::Unauthorized { why },
        _ => RemoteFailure::Unusable { why },
    }
}

/// Whether the connection itself may have failed, so that it has to be checked.
pub(crate) fn is_of_connection(failure: &RemoteFailure) -> bool {
    matches!(
        failure,
        RemoteFailure::Unreachable { .. }
            | RemoteFailure::Throttled { .. }
            | RemoteFailure::TimedOut { .. }
    )
}

/// Whether a server may have lost the session without saying so in a way that the client knows, or no longer takes its credentials.
/// A new connection helps then.
pub(crate) fn refuses_session(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Authentication => true,
        ErrorKind::MethodNotFound => false,
        _ => matches!(error.http_status(), Some(400 | 404 | 410)),
    }
}

/// Whether a server that has answered with this error may answer otherwise later.
pub(crate) fn is_passing(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Connectivity
            | ErrorKind::InternalError
            | ErrorKind::ServerError
            | ErrorKind::JsonRpcError
    )
}

/// The error of a request.
pub(crate) fn call_error(remote: &str, method: &'static str, failure: RemoteFailure) -> CallError {
    CallErrorKind::Remote { failure }.at(remote, Some(method))
}

/// An answer that is not what MCP requires.
pub(crate) fn invalid(problem: impl Into<String>) -> RemoteFailure {
    let problem = problem.into();
    RemoteFailure::Invalid { problem }
}
