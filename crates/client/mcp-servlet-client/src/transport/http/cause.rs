//! Why the HTTP client failed.

use std::error::Error as _;

/// The deepest reason of an error, which is the one of the operating system or of TLS.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match error.source() {
        Some(_) => cause.to_string(),
        // Its own text has the URL, which may have secrets.
        None if error.is_timeout() => "timed out".to_owned(),
        None => "no further reason".to_owned(),
    }
}
