//! Headers that decide whether a request is accepted.

use axum::{
    body::to_bytes,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, HOST, ORIGIN},
    },
    response::{IntoResponse as _, Response},
};

/// The `Accept` header that rmcp requires. It does not understand wildcards, which is not reported.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Sets `Accept` for clients that accept everything or send no such header.
pub(super) fn accept_all(headers: &mut HeaderMap) {
    let is_wildcard = |value: &HeaderValue| {
        let ranges = value.to_str().unwrap_or_default().split(',');
        let mut essences = ranges.map(|range| range.split(';').next().unwrap_or_default().trim());
        essences.any(|essence| essence == "*/*")
    };
    if !headers.contains_key(ACCEPT) || headers.get_all(ACCEPT).iter().any(is_wildcard) {
        headers.insert(ACCEPT, BOTH);
    }
}

/// The `Host` and `Origin` of a request.
pub(super) struct Sender {
    host: String,
    origin: String,
}

impl Sender {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name| {
            let value = headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        Self {
            host: text(HOST),
            origin: text(ORIGIN),
        }
    }

    /// Explains why rmcp refused the request, and which option would allow it.
    pub(super) async fn refused(self, refusal: Response) -> Response {
        let text = to_bytes(refusal.into_body(), 1024)
            .await
            .unwrap_or_default();
        let (header, value, option) = if text.starts_with(b"Forbidden: Host") {
            let name = match self.host.rsplit_once(':') {
                Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
                _ => &self.host,
            };
            ("Host", &self.host, format!("--http-name {name}"))
        } else {
            (
                "Origin",
                &self.origin,
                format!("--http-origin {}", self.origin),
            )
        };
        tracing::warn!("request refused: its header `{header}` is `{value}`; `{option}` allows it");
        let message = format!(
            "the header `{header}` is `{value}`, which this server does not allow\nhelp: start it with `{option}`\n"
        );
        (StatusCode::FORBIDDEN, message).into_response()
    }
}
