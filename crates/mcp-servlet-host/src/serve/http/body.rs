//! Bodies of requests and answers.

use axum::{
    Json,
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::exact::unload_text;

/// The part of a message that decides whether it is one of JSON-RPC.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    id: Option<serde::de::IgnoredAny>,
    method: Option<String>,
    result: Option<serde::de::IgnoredAny>,
    error: Option<serde::de::IgnoredAny>,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It wants an answer.
    Request,
    /// It is an answer, or wants none.
    Other,
}

/// A request whose body is a message of JSON-RPC, or the answer that says why it is none.
pub(super) async fn checked(request: Request, limit: usize) -> Result<(Request, Kind), Response> {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, limit).await else {
        let message = format!("the body is longer than {limit} bytes, or broke off");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, message).into_response());
    };
    match check(&bytes) {
        Ok(kind) => Ok((Request::from_parts(parts, Body::from(bytes)), kind)),
        Err((code, message)) => Err(refusal(code, &message)),
    }
}

fn check(bytes: &[u8]) -> Result<Kind, (i32, String)> {
    const PARSE_ERROR: i32 = -32700;
    const INVALID_REQUEST: i32 = -32600;
    let json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes);
    json.map_err(|error| (PARSE_ERROR, format!("the body is not JSON: {error}")))?;
    if bytes.trim_ascii_start().starts_with(b"[") {
        let message = "MCP has no batches; send each message by itself".to_owned();
        return Err((INVALID_REQUEST, message));
    }
    let wrong = |problem: String| {
        (
            INVALID_REQUEST,
            format!("no message of JSON-RPC: {problem}"),
        )
    };
    let envelope: Envelope =
        serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    let answers = envelope.result.is_some() || envelope.error.is_some();
    if envelope.jsonrpc != "2.0" {
        return Err(wrong("`jsonrpc` must be \"2.0\"".into()));
    }
    if envelope.method.is_none() && !answers {
        return Err(wrong("there is no `method`".into()));
    }
    Ok(match (envelope.id, envelope.method) {
        (Some(_), Some(_)) => Kind::Request,
        _ => Kind::Other,
    })
}

fn refusal(code: i32, message: &str) -> Response {
    let error = json!({ "code": code, "message": message });
    let body = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
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
    fn tells_what_is_wrong_with_a_body() {
        let code = |body: &str| check(body.as_bytes()).err().map(|(code, _)| code);
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
        ] {
            assert_eq!(code(good), None, "{good}");
        }
        for broken in ["", "{", "nonsense", "{}{}"] {
            assert_eq!(code(broken), Some(-32700), "{broken}");
        }
        for wrong in [
            "[]",
            "1",
            "{}",
            r#"{"jsonrpc":"1.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0"}"#,
        ] {
            assert_eq!(code(wrong), Some(-32600), "{wrong}");
        }
    }

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
