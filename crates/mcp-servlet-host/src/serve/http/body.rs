//! Bodies of requests and answers.

use axum::{
    Json,
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use http_body_util::BodyExt as _;

use crate::serve::{
    exact::unload_text,
    message::{self, Kind},
};

/// A request whose body is a message of JSON-RPC, or the answer that says why it is none.
pub(super) async fn checked(request: Request, limit: usize) -> Result<(Request, Kind), Response> {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, limit).await else {
        let message = format!("the body is longer than {limit} bytes, or broke off");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, message).into_response());
    };
    match message::check(&bytes) {
        Ok(kind) => Ok((Request::from_parts(parts, Body::from(bytes)), kind)),
        Err(refusal) => {
            let body = Json(refusal.to_json());
            Err((StatusCode::BAD_REQUEST, body).into_response())
        }
    }
}

/// An answer with the JSON of servlets as they wrote it. `held` lives until the last byte is on its way.
pub(super) fn exact<T: Send + 'static>(response: Response, held: T) -> Response {
    response.map(|body| {
        let body = body.map_frame(move |frame| {
            let _ = &held;
            frame.map_data(|data| unload(&data).unwrap_or(data))
        });
        Body::new(body)
    })
}

/// A message by itself, or events that have one in a line each. None if it stays as it is.
fn unload(data: &Bytes) -> Option<Bytes> {
    let text = std::str::from_utf8(data).ok()?;
    if text.starts_with('{') {
        return unload_text(text).map(Bytes::from);
    }
    let unload_line = |line: &str| {
        let message = unload_text(line.strip_prefix("data:")?.trim())?;
        Some(format!("data: {message}\n"))
    };
    let lines = || text.split_inclusive('\n');
    lines().any(|line| unload_line(line).is_some()).then(|| {
        let lines = lines().map(|line| unload_line(line).unwrap_or_else(|| line.to_owned()));
        Bytes::from(lines.collect::<String>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_events_alone_that_carry_nothing() {
        let event = Bytes::from_static(b"id: 1\ndata: {\"jsonrpc\":\"2.0\"}\n\n");
        assert_eq!(unload(&event), None);
    }

    #[test]
    fn unloads_the_message_of_an_event() {
        let carried = r#"{"_meta":{"mcp-servlet-host/exact":{"a":1}},"b":2}"#;
        let event = format!("id: 7\ndata: {{\"id\":1,\"result\":{carried}}}\n\n");
        let unloaded = unload(&Bytes::from(event)).expect("another event");
        assert_eq!(
            unloaded,
            "id: 7\ndata: {\"id\":1,\"result\":{\"a\":1,\"b\":2}}\n\n"
        );
    }
}
