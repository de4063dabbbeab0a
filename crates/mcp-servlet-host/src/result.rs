//! What a tool answered.

use mcp_servlet_runtime::JsonObject;
use serde_json::Value;

/// The result of a call in the shape that MCP has today, whatever shape the servlet wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct CallToolResult {
    json: JsonObject,
}

impl CallToolResult {
    pub(crate) fn new(json: JsonObject) -> Self {
        Self { json }
    }

    /// An error that the model should read.
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

    /// The answer as data, if the tool gives any.
    pub fn structured_content(&self) -> Option<&Value> {
        self.json.get("structuredContent")
    }

    /// Whether the tool says that it did not succeed.
    pub fn is_error(&self) -> bool {
        self.json.get("isError") == Some(&Value::Bool(true))
    }

    /// The texts of its content.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let blocks = self.content().iter();
        blocks.filter_map(|block| block["text"].as_str())
    }

    /// `complete` unless the servlet says otherwise.
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
