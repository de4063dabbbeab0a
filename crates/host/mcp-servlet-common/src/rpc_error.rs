//! Errors of JSON-RPC.

use serde_json::{Value, json};

/// A JSON-RPC error. It reports a protocol error; a failed tool returns a result with `isError` instead.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// A message for people.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
}

impl RpcError {
    /// JSON-RPC: the parameters of the request are invalid.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A message is not a valid request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// A server-defined code: the server is busy, try again later.
    pub const BUSY: i32 = -32000;
    /// MCP up to 2025-11-25: the resource does not exist. Clients of later revisions get
    /// [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// JSON-RPC: internal error of the server.
    pub const INTERNAL: i32 = -32603;

    /// An internal error that names the servlet and, if one was running, the export.
    pub fn internal(servlet: &str, export: Option<&str>, message: String) -> Self {
        let data = match export {
            Some(export) => json!({ "servlet": servlet, "export": export }),
            None => json!({ "servlet": servlet }),
        };
        Self {
            code: Self::INTERNAL,
            message,
            data: Some(data),
        }
    }
}
