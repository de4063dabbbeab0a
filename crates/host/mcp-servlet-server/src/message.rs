//! Checks that a client's message is valid JSON-RPC.

use mcp_servlet_runtime::{Fault, JsonObject};
use rmcp::{
    ErrorData, RoleServer, model::ErrorCode, service::RxJsonRpcMessage,
    transport::async_rw::JsonRpcMessageCodec,
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};
use tokio_util::{bytes::BytesMut, codec::Decoder as _};

use crate::params;

/// A message from a client.
pub(crate) type Incoming = RxJsonRpcMessage<RoleServer>;

/// The members that decide whether a message is valid.
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: String,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Deserializes `null` as a value instead of `None`.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// The kind of the message.
#[derive(Debug)]
pub(crate) enum Kind {
    /// The request `initialize` with this id. It opens a session.
    Initialize(Value),
    /// Another request with this id.
    Request(Value),
    /// A response or a notification.
    Other,
}

impl Kind {
    /// Whether this is a request.
    pub(crate) fn is_request(&self) -> bool {
        !matches!(self, Self::Other)
    }

    /// The id, if this is a request.
    pub(crate) fn into_id(self) -> Option<Value> {
        match self {
            Self::Initialize(id) | Self::Request(id) => Some(id),
            Self::Other => None,
        }
    }
}

/// Why a message is invalid.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The id of the request, or null if it is unknown.
    id: Value,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// The text is JSON, but not a JSON-RPC message.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            id: Value::Null,
            code: ErrorCode::INVALID_REQUEST,
            message: message.into(),
        }
    }

    /// Whether the method is unknown.
    pub(crate) fn is_of_no_method(&self) -> bool {
        self.code == ErrorCode::METHOD_NOT_FOUND
    }

    /// The server is stopping and refuses the request with this id.
    pub(crate) fn stopping(id: Value) -> Self {
        Self {
            id,
            code: ErrorCode(Fault::BUSY),
            message: "the server is stopping".to_owned(),
        }
    }

    /// The same refusal, for the request with this id.
    pub(crate) fn to(mut self, id: Option<Value>) -> Self {
        let is_id = |id: &Value| id.is_string() || id.is_number();
        self.id = id.filter(is_id).unwrap_or(Value::Null);
        self
    }

    /// The error response.
    pub(crate) fn to_json(&self) -> Value {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error })
    }
}

impl From<ErrorData> for Refusal {
    fn from(error: ErrorData) -> Self {
        Self {
            id: Value::Null,
            code: error.code,
            message: error.message.into_owned(),
        }
    }
}

fn is_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

/// Why these bytes are not a valid message.
fn refusal(bytes: &[u8], error: Option<serde_json::Error>) -> Refusal {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
        return Refusal {
            id: Value::Null,
            code: ErrorCode::PARSE_ERROR,
            message: format!("invalid JSON: {error}"),
        };
    }
    match error {
        Some(error) if !is_batch(bytes) => wrong(&error.to_string()).to(id(bytes)),
        _ => Refusal::invalid("batches are not supported; send each message by itself"),
    }
}

/// The id of an invalid message, if it could be a request. The id of a response belongs to one of
/// the server's own requests.
fn id(bytes: &[u8]) -> Option<Value> {
    let mut members: JsonObject = serde_json::from_slice(bytes).ok()?;
    let answers = ["result", "error"]
        .iter()
        .any(|name| members.contains_key(*name));
    (!answers).then(|| members.shift_remove("id"))?
}

fn wrong(problem: &str) -> Refusal {
    Refusal::invalid(format!("invalid JSON-RPC message: {problem}"))
}

/// Decodes a line with rmcp's codec. None if the message can be ignored.
pub(crate) fn decode(line: &mut BytesMut) -> Result<Option<Incoming>, Refusal> {
    let message = JsonRpcMessageCodec::default().decode(line);
    message.map_err(|error| Refusal::invalid(format!("invalid MCP message: {error}")))
}

/// Decodes the body of a request. None if the message can be ignored.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Incoming>, Refusal> {
    let mut line: BytesMut = [bytes, b"\n"].concat().as_slice().into();
    // rmcp's codec works on lines. Within JSON, a line break means the same as a space.
    let last = line.len() - 1;
    for byte in &mut line[..last] {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    decode(&mut line)
}

/// Why rmcp cannot read these bytes as a message.
pub(crate) fn unreadable(bytes: &[u8]) -> Refusal {
    let refused = read(bytes).err();
    refused.unwrap_or_else(|| Refusal::invalid("invalid MCP message"))
}

/// The kind of a message, if it is valid.
pub(crate) fn check(bytes: &[u8]) -> Result<Kind, Refusal> {
    let envelope: Envelope<'_> = match serde_json::from_slice(bytes) {
        // serde would also accept an array with the right number of items.
        Ok(envelope) if !is_batch(bytes) => envelope,
        result => return Err(refusal(bytes, result.err())),
    };
    let answers = envelope.result.is_some() || envelope.error.is_some();
    let id = envelope.id.filter(|_| !answers);
    if envelope.jsonrpc != "2.0" {
        return Err(wrong("`jsonrpc` must be \"2.0\"").to(id));
    }
    let Some(method) = envelope.method else {
        if answers {
            return Ok(Kind::Other);
        }
        return Err(wrong("`method` is missing").to(id));
    };
    // rmcp only supports these ids.
    let is_id = |id: &Value| id.is_string() || id.is_i64();
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return Err(wrong("`id` must be a string, or an integer of 64 bits"));
    }
    if let Some(error) = params::check(&method, envelope.params.map(RawValue::get)) {
        return Err(Refusal::from(error).to(id));
    }
    let of_request = match &*method {
        "initialize" => Kind::Initialize,
        _ => Kind::Request,
    };
    Ok(id.map_or(Kind::Other, of_request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_the_id_of_the_refused_request() {
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
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, Value::Null),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"m","params":[]}"#,
                json!(7),
            ),
        ] {
            assert_eq!(id(text), expected, "{text}");
        }
    }

    #[test]
    fn reports_the_problem_of_an_invalid_message() {
        let code = |text: &str| check(text.as_bytes()).err().map(|refusal| refusal.code.0);
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null,"_meta":{}}}"#,
        ] {
            assert_eq!(code(good), None, "{good}");
        }
        for broken in ["", "{", "nonsense", "{}{}"] {
            assert_eq!(code(broken), Some(-32700), "{broken}");
        }
        for params in [
            "[]",
            "5",
            "\"a\"",
            "false",
            r#"{"_meta":[]}"#,
            r#"{"_meta":5}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
            assert_eq!(code(&text), Some(-32602), "{text}");
        }
        for wrong in [
            "[]",
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
            "1",
            "{}",
            r#"{"jsonrpc":"1.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0"}"#,
        ] {
            assert_eq!(code(wrong), Some(-32600), "{wrong}");
        }
    }
}
