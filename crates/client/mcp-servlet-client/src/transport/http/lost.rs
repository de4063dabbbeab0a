//! How servers say that they do not know a session any more.
//!
//! The specification has status 404. Many servers have others: 400, because they read a request without a known session as
//! one that lacks `initialize`, 410, another status with a text about the session, or an error of JSON-RPC with status 200.

use reqwest::StatusCode;
use rmcp::model::RequestId;

use super::response;
use crate::error::Error;
use crate::incoming::{self, Mended, Message, Reply};

/// The code that servers have for a session that they do not know. Some send it for other errors, too.
const SESSION_NOT_FOUND: i64 = -32001;
const INVALID_PARAMS: i64 = -32602;
/// The longest body with such an error, in bytes.
const MAX: usize = 4096;
/// What such a body has.
const ERROR: &[u8] = b"\"error\"";

/// Whether an HTTP status with its body says that the server has lost the session.
pub(super) fn is_lost(error: &Error) -> bool {
    match error.http_status() {
        Some(404 | 410) => true,
        Some(400) if error.code() == Some(SESSION_NOT_FOUND) || is_bare(error) => true,
        Some(400..) => is_about_session(error),
        // Only an error of `error_of` has no status here.
        None => error.code().is_some() && is_about_session(error),
        Some(_) => false,
    }
}

/// Whether a response with status 400 says nothing else.
fn is_bare(error: &Error) -> bool {
    error.message() == response::failed(StatusCode::BAD_REQUEST, "").message()
}

/// The error in the body of a response with status 200, if it says that the server has lost the session.
pub(super) fn error_of(body: &[u8]) -> Option<Error> {
    let names_error = || body.windows(ERROR.len()).any(|part| part == ERROR);
    if body.len() > MAX || !names_error() {
        return None;
    }
    let mut mended = Mended::default();
    let text = incoming::text(body, &mut mended);
    let none: Option<&RequestId> = None;
    let Message::Response {
        reply: Reply::Error(error),
        ..
    } = Message::read(&text, none, &mut mended)?
    else {
        return None;
    };
    let error = Error::from_json_rpc(error);
    is_about_session(&error).then_some(error)
}

/// Whether an error says that there is no such session, or that the server has seen no handshake.
fn is_about_session(error: &Error) -> bool {
    const GONE: [&str; 14] = [
        "not found",
        "invalid",
        "no valid",
        "no active",
        "expired",
        "terminated",
        "unknown",
        "missing",
        "does not exist",
        "no longer",
        "closed",
        "lost",
        "required",
        "no session",
    ];
    const NO_HANDSHAKE: [&str; 4] = [
        "not initialized",
        "not initialised",
        "uninitialized",
        "before initialization",
    ];
    let message = error.message().to_lowercase();
    let names = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let names_session = match error.code() {
        // An argument of a tool may be a session, too.
        Some(INVALID_PARAMS) => {
            let starts = [
                "session",
                "invalid session",
                "unknown session",
                "no session",
            ];
            starts.iter().any(|start| message.starts_with(start))
        }
        _ => message.contains("session"),
    };
    (names_session && names(&GONE)) || names(&NO_HANDSHAKE)
}
