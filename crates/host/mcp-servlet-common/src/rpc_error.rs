//! Errors of JSON-RPC.

use serde::Serialize;
use serde_json::{Value, json};

/// A JSON-RPC error. It reports a protocol error; a failed tool returns a result with `isError` instead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// A message for people.
    pub message: String,
    /// Details for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// JSON-RPC: the text is not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// JSON-RPC: the message is not a valid request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// JSON-RPC: the method does not exist.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// JSON-RPC: the parameters of the request are invalid.
    pub const INVALID_PARAMS: i32 = -32602;
    /// JSON-RPC: internal error of the server.
    pub const INTERNAL: i32 = -32603;
    /// A code that JSON-RPC leaves to servers. Ours is busy; the client may try again later.
    pub const BUSY: i32 = -32000;
    /// MCP up to 2025-11-25: the resource does not exist. Clients of later revisions get
    /// [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// MCP since 2026-07-28: the client has not declared a capability that the request needs.
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;

    /// An error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// An internal error that names the servlet and, if one was running, the export.
    pub fn internal(servlet: &str, export: Option<&str>, message: String) -> Self {
        let data = match export {
            Some(export) => json!({ "servlet": servlet, "export": export }),
            None => json!({ "servlet": servlet }),
        };
        Self::new(Self::INTERNAL, message).with_data(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_data_is_not_written() {
        let error = RpcError::new(RpcError::BUSY, "later");
        let written = |error: &RpcError| serde_json::to_string(error).expect("JSON");
        assert_eq!(written(&error), r#"{"code":-32000,"message":"later"}"#);
        assert_eq!(
            written(&error.with_data(json!({ "retry": true }))),
            r#"{"code":-32000,"message":"later","data":{"retry":true}}"#
        );
    }
}
