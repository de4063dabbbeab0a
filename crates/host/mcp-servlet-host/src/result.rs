//! The results of tools.

use mcp_servlet_runtime::JsonObject;
use serde_json::Value;

/// The result of a call in the current shape of MCP, even if the servlet wrote another shape.
#[derive(Clone, Debug, PartialEq)]
pub struct CallToolResult {
    json: JsonObject,
}

impl CallToolResult {
    pub(crate) fn new(json: JsonObject) -> Self {
        Self { json }
    }

    /// An error for the model.
    pub(crate) fn error(text: String) -> Self {
        let json = serde_json::json!({
            "content": [{ "type": "text", "text": text }],
            "isError": true,
        });
        match json {
            Value::Object(json) => Self { json },
            _ => Self {
                json: JsonObject::new(),
            },
        }
    }

    /// The content items: text, images and so on.
    pub fn content(&self) -> &[Value] {
        self.json
            .get("content")
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// The structured content, if the tool returns any.
    pub fn structured_content(&self) -> Option<&Value> {
        self.json.get("structuredContent")
    }

    /// Whether the tool reports an error.
    pub fn is_error(&self) -> bool {
        self.json.get("isError") == Some(&Value::Bool(true))
    }

    /// The text blocks of the content.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let blocks = self.content().iter();
        blocks.filter_map(|block| block["text"].as_str())
    }

    /// The `resultType`: `complete` unless the servlet sets another one.
    pub fn result_type(&self) -> &str {
        self.json
            .get("resultType")
            .and_then(Value::as_str)
            .unwrap_or("complete")
    }

    /// The whole result.
    pub fn json(&self) -> &JsonObject {
        &self.json
    }

    /// The whole result.
    pub fn into_json(self) -> JsonObject {
        self.json
    }
}
