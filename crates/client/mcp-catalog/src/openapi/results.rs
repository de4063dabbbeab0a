//! The components that do not depend on the server: MCP's results, and errors.

use serde_json::{Value, json};

use crate::diagnostic::ItemKind;

/// The result of a tool that has no output schema.
pub(super) const TOOL_RESULT: &str = "#/components/schemas/ToolResult";

/// The result of a prompt.
pub(super) const PROMPT_RESULT: &str = "#/components/schemas/PromptResult";

/// A message of a prompt.
const PROMPT_MESSAGE: &str = "#/components/schemas/PromptMessage";

/// The result of reading a resource.
pub(super) const RESOURCE_RESULT: &str = "#/components/schemas/ResourceResult";

/// The contents of one resource.
const RESOURCE_CONTENTS: &str = "#/components/schemas/ResourceContents";

/// What tools and prompts return for people and models.
const CONTENT: &str = "#/components/schemas/Content";

/// The body of errors.
const PROBLEM: &str = "#/components/schemas/Problem";

/// The response of everything that fails.
pub(super) const PROBLEM_RESPONSE: &str = "#/components/responses/Problem";

/// The schemas, each with the kind of item whose result needs it; `None` if all documents do.
pub(super) fn schemas() -> [(Option<ItemKind>, &'static str, Value); 7] {
    [
        (Some(ItemKind::Tool), "ToolResult", tool_result()),
        (Some(ItemKind::Prompt), "PromptResult", prompt_result()),
        (Some(ItemKind::Prompt), "PromptMessage", prompt_message()),
        (
            Some(ItemKind::Resource),
            "ResourceResult",
            resource_result(),
        ),
        (
            Some(ItemKind::Resource),
            "ResourceContents",
            resource_contents(),
        ),
        (None, "Content", content()),
        (None, "Problem", problem()),
    ]
}

/// The responses.
pub(super) fn responses() -> Value {
    json!({ "Problem": {
        "description": "The request failed, or a tool returned an error",
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

/// MCP's `GetPromptResult`.
fn prompt_result() -> Value {
    json!({
        "type": "object",
        "required": ["messages"],
        "properties": {
            "description": { "type": "string" },
            "messages": { "type": "array", "items": { "$ref": PROMPT_MESSAGE } },
            "_meta": { "type": "object" },
        },
    })
}

/// MCP's `PromptMessage`. Servers may use roles that MCP does not know.
fn prompt_message() -> Value {
    json!({
        "type": "object",
        "required": ["role", "content"],
        "properties": {
            "role": { "type": "string", "description": "`user` or `assistant`" },
            "content": { "$ref": CONTENT },
        },
    })
}

/// MCP's `ReadResourceResult`.
fn resource_result() -> Value {
    json!({
        "type": "object",
        "required": ["contents"],
        "properties": {
            "contents": { "type": "array", "items": { "$ref": RESOURCE_CONTENTS } },
            "_meta": { "type": "object" },
        },
    })
}

/// MCP's `TextResourceContents` and `BlobResourceContents` as one object: some generators make no type of `oneOf`.
fn resource_contents() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["uri"],
        "properties": {
            "uri": text,
            "mimeType": text,
            "text": { "type": "string", "description": "The contents, if they are text" },
            "blob": {
                "type": "string",
                "contentEncoding": "base64",
                "description": "The contents, if they are not text",
            },
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
