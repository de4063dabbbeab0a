//! The messages that a client sends, and those in the body of a response.

use serde_json::{Value, json};

/// The last protocol version with sessions.
pub const HANDSHAKE: &str = "2025-11-25";

/// The first protocol version without sessions.
pub const STATELESS: &str = "2026-07-28";

/// The request that opens a session of this protocol version. Its id is 0.
pub fn initialize(version: &str) -> Value {
    let client = json!({ "name": "c", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    numbered(0, request("initialize", params))
}

/// The notification after the response to [`initialize`].
pub fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// A request in a session. Its id is 1.
pub fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// A request since 2026-07-28, with what `_meta` must have. Its id is 1.
pub fn stateless(method: &str, mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = STATELESS.into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "c", "version": "1" });
    let capabilities = &mut meta["io.modelcontextprotocol/clientCapabilities"];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    request(method, params)
}

/// The same [`initialize`] or [`stateless`] request from a client with these capabilities.
pub fn able(mut message: Value, capabilities: Value) -> Value {
    let params = &mut message["params"];
    match params.get_mut("capabilities") {
        Some(own) => *own = capabilities,
        None => params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities,
    }
    message
}

/// The same request with another id.
pub fn numbered(id: impl Into<Value>, mut message: Value) -> Value {
    message["id"] = id.into();
    message
}

/// A notification.
pub fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// The notification that cancels a request.
pub fn cancelled(id: impl Into<Value>) -> Value {
    let id: Value = id.into();
    notification("notifications/cancelled", json!({ "requestId": id }))
}

/// The response to a request of the server.
pub fn response(request: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

/// The messages in a body: one as JSON, or those of an event stream.
///
/// # Panics
/// If one of them is not JSON.
pub fn messages(body: &str) -> Vec<Value> {
    if body.starts_with(['{', '[']) {
        return vec![parse(body)];
    }
    body.lines().filter_map(event).collect()
}

/// The message in a line of an event stream.
pub(crate) fn event(line: &str) -> Option<Value> {
    let data = line.strip_prefix("data:")?.trim();
    (!data.is_empty()).then(|| parse(data))
}

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The text in the response to a call.
///
/// # Panics
/// If there is none.
pub fn text(response: &Value) -> &str {
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{response}"))
}
