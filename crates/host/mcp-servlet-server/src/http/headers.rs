//! Headers that decide whether a request is accepted.

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderValue, StatusCode, Version,
        header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN},
        uri::Authority,
    },
    response::{IntoResponse as _, Response},
};
use rmcp::model::ProtocolVersion;

use super::names::split_authority;
use crate::era::Era;

/// The `Accept` header that rmcp requires. It does not understand wildcards, which is not reported.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The header that names the protocol version of a request.
const VERSION: &str = "mcp-protocol-version";

/// The forms of responses that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    pub(super) json: bool,
    pub(super) events: bool,
}

impl Accepts {
    /// A client without `Accept` takes everything.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT).iter();
        let ranges: Vec<_> = values
            .flat_map(|value| value.to_str().unwrap_or_default().split(','))
            .map(str::trim)
            .filter(|range| !range.is_empty())
            .collect();
        if ranges.is_empty() {
            return Self {
                json: true,
                events: true,
            };
        }
        let accepts = |names: [&str; 3]| {
            let mut ranges = ranges.iter();
            ranges.any(|range| {
                let mut parts = range.split(';').map(str::trim);
                let essence = parts.next().unwrap_or_default();
                let is_named = names.iter().any(|name| essence.eq_ignore_ascii_case(name));
                is_named && !parts.any(is_excluded)
            })
        };
        Self {
            json: accepts(["application/json", "application/*", "*/*"]),
            events: accepts(["text/event-stream", "text/*", "*/*"]),
        }
    }
}

/// Whether a parameter of a media range is `q=0`.
fn is_excluded(parameter: &str) -> bool {
    let quality = parameter.split_once('=');
    quality.is_some_and(|(name, value)| {
        name.eq_ignore_ascii_case("q") && value.parse::<f32>().is_ok_and(|value| value == 0.0)
    })
}

/// Lets rmcp answer in either form.
pub(super) fn accept_both(headers: &mut HeaderMap) {
    headers.insert(ACCEPT, BOTH);
}

/// Removes a protocol version that the server does not know, so that `initialize` can agree on another one.
pub(super) fn remove_unknown_version(headers: &mut HeaderMap) {
    let is_known = |value: &HeaderValue| {
        let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
        known.any(|version| value == version.as_str())
    };
    if headers.get(VERSION).is_some_and(|value| !is_known(value)) {
        headers.remove(VERSION);
    }
}

/// Whether the headers name a protocol version since 2026-07-28.
pub(super) fn name_modern_version(headers: &HeaderMap) -> bool {
    let version = headers
        .get(VERSION)
        .and_then(|version| version.to_str().ok());
    version.is_some_and(|version| Era::of_version(version) == Era::Modern)
}

/// The response to a request that names no host, or more than one host or origin:
/// <https://www.rfc-editor.org/rfc/rfc9112#section-3.2>. Otherwise the server could check one name, while the client means another one.
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
    let is_host = |host: &[u8]| split_authority(str::from_utf8(host).unwrap_or_default()).is_some();
    let lacks_host = host.is_none() && authority.is_none() && request.version() == Version::HTTP_11;
    let problem = if lacks_host {
        "expected the header `Host`, such as mcp.example:8443"
    } else if has_more_hosts {
        "expected one header `Host`, found more"
    } else if !host.is_none_or(is_host) {
        "expected a host and an optional port in the header `Host`, such as mcp.example:8443"
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
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_names_the_forms_of_responses() {
        let both = Accepts {
            json: true,
            events: true,
        };
        let (json, events) = (
            Accepts {
                events: false,
                ..both
            },
            Accepts {
                json: false,
                ..both
            },
        );
        let neither = Accepts {
            json: false,
            events: false,
        };
        assert_eq!(Accepts::of(&HeaderMap::new()), both);
        for (accept, expected) in [
            ("", both),
            ("*/*", both),
            ("application/json, text/event-stream", both),
            ("APPLICATION/JSON;q=0.9,TEXT/EVENT-STREAM; q=0.1", both),
            ("text/html, */*;q=0.1", both),
            ("application/json", json),
            ("application/*", json),
            ("application/json, text/event-stream;q=0", json),
            ("application/json, application/mcp+json", json),
            ("text/event-stream", events),
            ("text/*", events),
            ("text/html", neither),
            ("*/*;q=0.0", neither),
        ] {
            let value = HeaderValue::from_static(accept);
            let headers = HeaderMap::from_iter([(ACCEPT, value)]);
            assert_eq!(Accepts::of(&headers), expected, "{accept}");
        }
    }
}
