//! The components that all documents have: results without an output schema, and errors.

use serde_json::{Value, json};

/// The result of a tool that has no output schema.
pub(super) const TOOL_RESULT: &str = "#/components/schemas/ToolResult";

/// What a tool returns for people and models.
const CONTENT: &str = "#/components/schemas/Content";

/// The body of errors.
const PROBLEM: &str = "#/components/schemas/Problem";

/// The response of everything that fails.
pub(super) const PROBLEM_RESPONSE: &str = "#/components/responses/Problem";

/// The schemas.
pub(super) fn schemas() -> [(&'static str, Value); 3] {
    [
        ("ToolResult", tool_result()),
        ("Content", content()),
        ("Problem", problem()),
    ]
}

/// The responses.
pub(super) fn responses() -> Value {
    json!({ "Problem": {
        "description": "The tool returned an error, or the request failed",
        "content": { "application/problem+json": { "schema": { "$ref": PROBLEM } } },
    } })
}

/// MCP's `CallToolResult`.
fn tool_result() -> Value {
    json!({
        "type": "object",
        "required": ["content"],
        "properties": {
            "content": { "type": "array", "items": { "$ref": CONTENT } },
            "structuredContent": { "description": "Any JSON" },
            "_meta": { "type": "object" },
        },
    })
}

/// A content block. Servers may use kinds that MCP does not know, so only `type` is required.
fn content() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {
                "type": "string",
                "description": "`text`, `image`, `audio`, `resource`, `resource_link` or a newer kind",
            },
            "text": text,
            "data": { "type": "string", "contentEncoding": "base64" },
            "mimeType": text,
            "uri": text,
            "name": text,
            "resource": { "type": "object" },
            "annotations": { "type": "object" },
            "_meta": { "type": "object" },
        },
    })
}

/// Problem details (RFC 9457), with what MCP has.
fn problem() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "content": {
                "type": "array",
                "items": { "$ref": CONTENT },
                "description": "The content of a result with `isError`",
            },
            "code": { "type": "integer", "description": "The code of a JSON-RPC error" },
            "data": { "description": "The data of a JSON-RPC error" },
        },
    })
}
