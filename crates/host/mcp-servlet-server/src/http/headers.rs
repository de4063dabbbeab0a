//! Headers that decide whether a request is accepted.

use axum::{
    body::to_bytes,
    extract::Request,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN},
        uri::Authority,
    },
    response::{IntoResponse as _, Response},
};

use super::names::split_authority;

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

/// The response to a request that names more than one host or origin: <https://www.rfc-editor.org/rfc/rfc9112#section-3.2>.
/// Otherwise one name could be checked, and another one be meant.
pub(super) fn ambiguous(request: &Request) -> Option<Response> {
    let text = |name| {
        let mut values = request.headers().get_all(name).iter();
        let first = values.next().map(HeaderValue::as_bytes);
        (first, values.next().is_some())
    };
    let (host, has_more_hosts) = text(HOST);
    let authority = request.uri().authority().map(Authority::as_str);
    let is_other = authority.is_some_and(|authority| {
        host.is_some_and(|host| !host.eq_ignore_ascii_case(authority.as_bytes()))
    });
    let (origin, has_more_origins) = text(ORIGIN);
    // Others are refused later: they are not in the list of allowed ones.
    let has_port = |origin: &[u8]| {
        let authority = str::from_utf8(origin).unwrap_or_default().split_once("://");
        authority.is_none_or(|(_, text)| text.is_empty() || split_authority(text).is_some())
    };
    let problem = if has_more_hosts {
        "expected one header `Host`, found more"
    } else if is_other {
        "the header `Host` and the URL of the request name two hosts"
    } else if has_more_origins || !origin.is_none_or(has_port) {
        "expected one origin in the header `Origin`, such as https://app.example:8443"
    } else {
        return None;
    };
    Some((StatusCode::BAD_REQUEST, problem).into_response())
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
