//! Bodies of requests and responses.

use std::borrow::Cow;

use axum::{
    Json,
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use http_body_util::BodyExt as _;

use crate::{
    http::HttpOptions,
    message::{self, Received, Refusal},
    passthrough,
};

/// What compresses a body. Other values of `Content-Encoding` are ignored: some clients write a charset there.
const COMPRESSIONS: [&str; 7] = [
    "gzip",
    "x-gzip",
    "deflate",
    "br",
    "zstd",
    "compress",
    "x-compress",
];

/// What a body contains, or else a response that says what is wrong with it.
pub(super) async fn read(
    (headers, body): (&HeaderMap, Body),
    options: &HttpOptions,
    takes_batches: bool,
) -> Result<Received, Response> {
    if let Some(encoding) = compression(headers) {
        let text = format!("expected a body without `Content-Encoding`, found `{encoding}`\n");
        let accepted = [(header::ACCEPT_ENCODING, "identity")];
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, accepted, text).into_response());
    }
    let limit = options.body;
    let bytes = to_bytes(body, limit);
    let bytes = match options.body_time {
        None => Ok(bytes.await),
        Some(time) => tokio::time::timeout(time, bytes).await.map_err(|_| time),
    };
    let bytes = match bytes {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => {
            let message = format!("the body is longer than {limit} bytes, or incomplete");
            return Err((StatusCode::PAYLOAD_TOO_LARGE, message).into_response());
        }
        Err(time) => {
            let message = format!("the body did not arrive within {time:?}");
            return Err((StatusCode::REQUEST_TIMEOUT, message).into_response());
        }
    };
    message::read(bytes, takes_batches).map_err(|refusal| refused(&refusal))
}

/// How the body is compressed.
fn compression(headers: &HeaderMap) -> Option<&'static str> {
    let values = headers
        .get_all(header::CONTENT_ENCODING)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    let mut encodings = values.flat_map(|value| value.split(',').map(str::trim));
    encodings.find_map(|encoding| {
        let mut known = COMPRESSIONS.into_iter();
        known.find(|known| known.eq_ignore_ascii_case(encoding))
    })
}

/// The response to an invalid message or an unknown method.
pub(super) fn refused(refusal: &Refusal) -> Response {
    let status = if refusal.is_method_not_found() {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::BAD_REQUEST
    };
    (status, Json(refusal.to_json())).into_response()
}

/// A response with the JSON of servlets unchanged. `held` lives until the last byte is sent.
pub(super) fn with_raw_results<T: Send + 'static>(response: Response, held: T) -> Response {
    response.map(|body| {
        let body = body.map_frame(move |frame| {
            let _ = &held;
            frame.map_data(|data| rewrite_messages(&data).unwrap_or(data))
        });
        Body::new(body)
    })
}

/// Writes messages in the form in which the client gets them: one message, or events with one per line. None if nothing changes.
fn rewrite_messages(data: &Bytes) -> Option<Bytes> {
    let text = std::str::from_utf8(data).ok()?;
    if text.starts_with('{') {
        return passthrough::outgoing(text).map(Bytes::from);
    }
    let mut changed = false;
    let rewrite_line = |line| -> Cow<'_, str> {
        let message = str::strip_prefix(line, "data:").map(str::trim);
        match message.and_then(passthrough::outgoing) {
            Some(message) => {
                changed = true;
                format!("data: {message}\n").into()
            }
            None => line.into(),
        }
    };
    let events: String = text.split_inclusive('\n').map(rewrite_line).collect();
    changed.then(|| events.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_compressed_bodies_are_refused() {
        for (value, found) in [
            ("identity", None),
            ("UTF-8", None),
            ("", None),
            ("GZip", Some("gzip")),
            ("identity, br", Some("br")),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_ENCODING, value.parse().expect("a value"));
            assert_eq!(compression(&headers), found, "{value}");
        }
    }

    #[test]
    fn leaves_other_events_unchanged() {
        let event = Bytes::from_static(b"id: 1\ndata: {\"jsonrpc\":\"2.0\"}\n\n");
        assert_eq!(rewrite_messages(&event), None);
    }

    #[test]
    fn rewrites_the_message_of_an_event() {
        let result = r#"{"_meta":{"mcp-servlet-host/passthrough":{"a":1}},"b":2}"#;
        let event =
            format!("id: 7\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{result}}}\n\n");
        let rewritten = rewrite_messages(&Bytes::from(event)).expect("another event");
        assert_eq!(
            rewritten,
            "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1,\"b\":2}}\n\n"
        );
    }
}
