//! Whether what a client sends is a message of JSON-RPC.

use rmcp::model::ErrorCode;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

/// The part of a message that decides whether it is one.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    id: Option<IgnoredAny>,
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
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// It is JSON, but not what JSON-RPC wants.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::INVALID_REQUEST,
            message: message.into(),
        }
    }

    /// The answer. Nobody knows what it answers, so its id is null.
    pub(super) fn to_json(&self) -> Value {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error })
    }
}

fn is_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

/// Why these bytes, which are not read as a message, are none.
fn refusal(bytes: &[u8], error: Option<serde_json::Error>) -> Refusal {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
        return Refusal {
            code: ErrorCode::PARSE_ERROR,
            message: format!("this is not JSON: {error}"),
        };
    }
    match error {
        Some(error) if !is_batch(bytes) => wrong(&error.to_string()),
        _ => Refusal::invalid("MCP has no batches; send each message by itself"),
    }
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
        return Err(wrong("`jsonrpc` must be \"2.0\""));
    }
    if envelope.method.is_none() && !answers {
        return Err(wrong("there is no `method`"));
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
