//! Headers that decide whether a request is accepted.

use axum::{
    body::to_bytes,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN},
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

/// Whether the client takes an event stream. A client without `Accept` takes everything.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let is_events = |value: &HeaderValue| {
        let mut ranges = value.to_str().unwrap_or_default().split(',');
        ranges.any(|range| {
            let essence = range.split(';').next().unwrap_or_default().trim();
            ["text/event-stream", "text/*", "*/*"].contains(&essence)
        })
    };
    !headers.contains_key(ACCEPT) || headers.get_all(ACCEPT).iter().any(is_events)
}

/// Whether the `Content-Type` is JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
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

    /// Explains why rmcp refused the request, and which option would allow it: one of the command
    /// line, or a key of the endpoint with this name.
    pub(super) async fn refused(self, refusal: Response, endpoint: Option<&str>) -> Response {
        let text = to_bytes(refusal.into_body(), 1024)
            .await
            .unwrap_or_default();
        let (header, value, option, key) = if text.starts_with(b"Forbidden: Host") {
            let name = match self.host.rsplit_once(':') {
                Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
                _ => &self.host,
            };
            let key = format!("hosts = [\"{name}\"]");
            ("Host", &self.host, format!("--http-name {name}"), key)
        } else {
            let key = format!("origins = [\"{}\"]", self.origin);
            (
                "Origin",
                &self.origin,
                format!("--http-origin {}", self.origin),
                key,
            )
        };
        let (option, help) = if let Some(endpoint) = endpoint {
            let help = format!("set `{key}` in `[endpoint.{endpoint}]`");
            (key, help)
        } else {
            let help = format!("start it with `{option}`");
            (option, help)
        };
        tracing::warn!("request refused: its header `{header}` is `{value}`; `{option}` allows it");
        let message = format!(
            "the header `{header}` is `{value}`, which this server does not allow\nhelp: {help}\n"
        );
        (StatusCode::FORBIDDEN, message).into_response()
    }
}
