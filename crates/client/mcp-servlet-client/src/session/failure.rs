//! Why a request has no response.

use std::time::Duration;

use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::error::{Error, ErrorKind};
use crate::tap::Tap;
use crate::transport::TransportError;
use crate::transport::http::Reported;

/// Why there is no response, if not even the transport knows it.
pub(super) fn not_answered(tap: &Tap, error: ServiceError) -> Error {
    match error {
        ServiceError::TransportSend(error) => match error.error.downcast().map(|error| *error) {
            Ok(TransportError::Http(error)) => not_sent(error),
            Ok(TransportError::Io(_)) | Err(_) => closed(tap),
        },
        // The tap has all errors of the server, so this one is of rmcp.
        ServiceError::McpError(error) => session_lost(error.message.into_owned()),
        ServiceError::Cancelled { .. } => {
            Error::new(ErrorKind::Cancelled, "the server has cancelled the request")
        }
        _ => closed(tap),
    }
}

/// Why there is no subscription. Responses to it do not go through the tap.
pub(super) fn not_subscribed(tap: &Tap, error: ServiceError) -> Error {
    match error {
        ServiceError::McpError(error) => Error::from_rmcp(&error),
        ServiceError::UnexpectedResponse => {
            let message = "the server answered the subscription in a way that MCP does not allow";
            Error::new(ErrorKind::Protocol, message)
        }
        error => not_answered(tap, error),
    }
}

fn closed(tap: &Tap) -> Error {
    tap.failure().unwrap_or_else(|| {
        let message = "the connection ended before the response";
        Error::new(ErrorKind::Connectivity, message)
    })
}

/// An error of rmcp's HTTP transport.
fn not_sent(error: StreamableHttpError<Reported>) -> Error {
    match error {
        StreamableHttpError::Client(Reported(error)) => error,
        StreamableHttpError::SessionExpired
        | StreamableHttpError::SessionRecoveryTimeout
        | StreamableHttpError::ReinitializationFailed(_) => session_lost(error.to_string()),
        error => {
            let message = format!("the connection broke: {error}");
            Error::new(ErrorKind::Connectivity, message).with_source(error)
        }
    }
}

/// The server has forgotten the session, and the handshake for a new one did not help.
fn session_lost(reason: String) -> Error {
    Error::new(
        ErrorKind::SessionInvalid,
        format!("the session is lost: {reason}"),
    )
    .with_help("connect again")
}

pub(super) fn timed_out(after: Duration) -> Error {
    let message = format!("no response within {after:?}");
    Error::new(ErrorKind::RequestTimeout, message).with_help("give the request more time")
}
