//! Whether what a client sends is a message of JSON-RPC.

use rmcp::model::ErrorCode;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use crate::{Fault, JsonObject};

/// The part of a message that decides whether it is one.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    id: Option<Value>,
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It wants an answer.
    Request,
    /// It is an answer, or wants none.
    Other,
}

/// Why something is no message.
#[derive(Debug)]
pub(super) struct Refusal {
    /// That of the request, null if nobody knows it.
    id: Value,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// It is JSON, but not what JSON-RPC wants.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self {
            id: Value::Null,
            code: ErrorCode::INVALID_REQUEST,
            message: message.into(),
        }
    }

    /// The server takes no new requests, such as this one.
    pub(super) fn stopping(request: &[u8]) -> Self {
        let refusal = Self {
            id: Value::Null,
            code: ErrorCode(Fault::BUSY),
            message: "the server is stopping".to_owned(),
        };
        refusal.to(id(request))
    }

    /// The same, as an answer to the request of that id.
    fn to(mut self, id: Option<Value>) -> Self {
        let is_id = |id: &Value| id.is_string() || id.is_number();
        self.id = id.filter(is_id).unwrap_or(Value::Null);
        self
    }

    /// The answer.
    pub(super) fn to_json(&self) -> Value {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error })
    }
}

fn is_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

/// Why these bytes, which are not read as a message, are none.
fn refusal(bytes: &[u8], error: Option<serde_json::Error>) -> Refusal {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
        return Refusal {
            id: Value::Null,
            code: ErrorCode::PARSE_ERROR,
            message: format!("this is not JSON: {error}"),
        };
    }
    match error {
        Some(error) if !is_batch(bytes) => wrong(&error.to_string()).to(id(bytes)),
        _ => Refusal::invalid("MCP has no batches; send each message by itself"),
    }
}

/// The id of what is no message of JSON-RPC, if it is a request otherwise. An answer's would be taken for one of ours.
fn id(bytes: &[u8]) -> Option<Value> {
    let mut members: JsonObject = serde_json::from_slice(bytes).ok()?;
    let answers = ["result", "error"]
        .iter()
        .any(|name| members.contains_key(*name));
    (!answers).then(|| members.shift_remove("id"))?
}

fn wrong(problem: &str) -> Refusal {
    Refusal::invalid(format!("no message of JSON-RPC: {problem}"))
}

/// What a message is for, if it is one.
pub(super) fn check(bytes: &[u8]) -> Result<Kind, Refusal> {
    let envelope: Envelope = match serde_json::from_slice(bytes) {
        // A list of the right length would do.
        Ok(envelope) if !is_batch(bytes) => envelope,
        result => return Err(refusal(bytes, result.err())),
    };
    let answers = envelope.result.is_some() || envelope.error.is_some();
    if envelope.jsonrpc != "2.0" {
        let id = envelope.id.filter(|_| !answers);
        return Err(wrong("`jsonrpc` must be \"2.0\"").to(id));
    }
    if envelope.method.is_none() && !answers {
        return Err(wrong("there is no `method`").to(envelope.id));
    }
    Ok(match (envelope.id, envelope.method) {
        (Some(_), Some(_)) => Kind::Request,
        _ => Kind::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_request_it_refuses() {
        let id = |text: &str| check(text.as_bytes()).expect_err(text).to_json()["id"].clone();
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
            (r#"{"jsonrpc":"1.0","id":"a","method":"m"}"#, json!("a")),
            (r#"{"id":7,"method":"m"}"#, json!(7)),
            (r#"{"jsonrpc":2,"id":7,"method":"m"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":[7],"params":{}}"#, Value::Null),
            (r#"{"jsonrpc":"1.0","id":7,"result":{}}"#, Value::Null),
            (r#"{"id":7,"error":{}}"#, Value::Null),
            (r#"{"id":7"#, Value::Null),
        ] {
            assert_eq!(id(text), expected, "{text}");
        }
    }

    #[test]
    fn tells_what_is_wrong_with_a_message() {
        let code = |text: &str| check(text.as_bytes()).err().map(|refusal| refusal.code.0);
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
}
