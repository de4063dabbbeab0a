//! How servers say that they do not know a session any more.
//!
//! The specification has status 404. Many servers have others: 400, because they read a request without a known session as
//! one that lacks `initialize`, 410, another status with a text about the session, or an error of JSON-RPC with status 200.
//!
//! A tool may have sessions of its own, such as those of a browser. Except with status 400, the text must therefore be one of
//! those that servers have for sessions of MCP, as a whole.

use crate::error::Error;
use crate::incoming::{self, Mended, Message, NO_MESSAGE, NO_MESSAGE_BUT_DATA, Reply};

/// The code that servers have for a session that they do not know. Some send it for other errors, too.
const SESSION_NOT_FOUND: i64 = -32001;
/// The longest body with such an error, in bytes.
const MAX_ERROR_BODY: usize = 4096;
/// What such a body has.
const ERROR: &[u8] = b"\"error\"";

/// What servers say of a session that they do not know.
const LOST: [&str; 32] = [
    "cannot find session",
    "cannot find transport for session id",
    "could not find session",
    "invalid session",
    "invalid session id",
    "missing session id",
    "no active session",
    "no session",
    "no session with this id",
    "no such session",
    "no transport found for session id",
    "no transport found for sessionid",
    "no valid session",
    "no valid session id provided",
    "not initialized",
    "received request before initialization was complete",
    "server not initialized",
    "session closed",
    "session does not exist",
    "session expired",
    "session has expired",
    "session has timed out",
    "session id is not recognized",
    "session id not found",
    "session is not valid",
    "session not found",
    "session not initialized",
    "session terminated",
    "session timed out",
    "session was evicted",
    "unknown session",
    "unrecognized session",
];

/// Whether an error has a status that means only this. Other errors may be those of a tool; then they are shown if a new
/// session has the same.
pub(super) fn is_status(error: &Error) -> bool {
    matches!(error.http_status(), Some(404 | 410))
}

/// Whether an error says that the server has lost the session.
pub(super) fn is_lost(error: &Error) -> bool {
    if names_lost_session(error.message()) {
        return true;
    }
    let is_known = error.code() == Some(SESSION_NOT_FOUND);
    if error.http_status() == Some(400) {
        // The server has refused the request before any tool could see it.
        return is_known || is_about_session(error.message());
    }
    is_known && (matches!(error.message(), "Not found" | "Not Found") || has_no_message(error))
}

/// Whether the server has sent no message, but perhaps data, which the error then quotes.
fn has_no_message(error: &Error) -> bool {
    let message = error.message();
    message == NO_MESSAGE || message.starts_with(NO_MESSAGE_BUT_DATA)
}

/// The error in the body of a response with status 200, if it says that the server has lost the session.
pub(super) fn error_of(body: &[u8]) -> Option<Error> {
    let names_error = || body.windows(ERROR.len()).any(|part| part == ERROR);
    if body.len() > MAX_ERROR_BODY || !names_error() {
        return None;
    }
    let mut mended = Mended::default();
    let text = incoming::text(body, &mut mended);
    let Message::Response {
        reply: Reply::Error(error),
        ..
    } = Message::read_body(&text, &mut mended)?
    else {
        return None;
    };
    let error = Error::from_json_rpc(error);
    is_lost(&error).then_some(error)
}

/// Whether a message, or a text in it, is one of [`LOST`].
fn names_lost_session(message: &str) -> bool {
    let message = message.to_lowercase();
    LOST.iter().any(|phrase| {
        message.match_indices(phrase).any(|(start, phrase)| {
            let before = message[..start].trim_end();
            let after = &message[start + phrase.len()..];
            // Such as `Bad Request: Session not found`, or `{"error":"Session not found"}`.
            let begins = before.is_empty() || before.ends_with([':', '"']);
            begins
                && (after.is_empty()
                    || after.starts_with(['.', ',', ';', '"'])
                    || after.starts_with(" ("))
        })
    })
}

/// Whether a message says in any words that there is no such session, or that the server has seen no handshake.
fn is_about_session(message: &str) -> bool {
    const GONE: [&str; 21] = [
        "cannot find",
        "closed",
        "could not find",
        "deleted",
        "does not exist",
        "evicted",
        "expired",
        "inactive",
        "invalid",
        "lost",
        "missing",
        "no longer",
        "no session",
        "no such",
        "no transport",
        "no valid",
        "not found",
        "not recognized",
        "required",
        "terminated",
        "unknown",
    ];
    let message = message.to_lowercase();
    let names = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    (message.contains("session") && names(&GONE))
        || names(&["not initialized", "not initialised", "uninitialized"])
}
