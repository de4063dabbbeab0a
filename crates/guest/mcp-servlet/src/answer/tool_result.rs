//! The result of a tool, while it is written.

use mcp_servlet_json::{ObjectWriter, RawJson, to_writer, write_object, write_raw};
use mcp_servlet_types::Content;

use crate::answer::strict;
use crate::wire::STRICT;

/// The result of a tool: content blocks and optional structured content.
///
/// Most tools return simpler types, see [`IntoToolResult`](crate::IntoToolResult). Use this for full control.
///
/// ```
/// use mcp_servlet::prelude::*;
///
/// /// Says it twice.
/// #[tool]
/// fn twice(text: String) -> ToolResult {
///     ToolResult::text(&text).and(&Content::text(text))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The result up to its last block, as JSON without its end: `{"content":[…`
    json: String,
    /// `structuredContent`, as JSON; empty for none.
    structured: String,
    /// `_meta`, as JSON; empty for none.
    meta: String,
    is_error: bool,
}

const START: &str = "{\"content\":[";

impl ToolResult {
    /// No content.
    pub fn empty() -> Self {
        Self::with_capacity(0)
    }

    /// One block of text.
    pub fn text(text: &str) -> Self {
        let mut result = Self::with_capacity(text.len() + text.len() / 16);
        result.push_text(text);
        result
    }

    /// A failure that the model should see.
    pub fn error(message: &str) -> Self {
        Self {
            is_error: true,
            ..Self::text(message)
        }
    }

    /// Adds a block.
    #[must_use]
    pub fn and(mut self, block: &Content) -> Self {
        self.separate();
        if STRICT {
            strict::write(&mut self.json, block);
        } else if to_writer(&mut self.json, block).is_err() {
            // Content blocks are strings, numbers and JSON text, so this cannot fail.
            self.json.push_str("null");
        }
        self
    }

    /// Sets `_meta`, which MCP reserves for clients and servers that agreed on its keys.
    #[must_use]
    pub fn with_meta(self, meta: RawJson) -> Self {
        Self {
            meta: meta.into_string(),
            ..self
        }
    }

    /// Sets `_meta` to an object with one member.
    pub(crate) fn with_meta_member(self, key: &str, json: &str) -> Self {
        let mut meta = ObjectWriter::new();
        meta.json(key, json);
        Self {
            meta: meta.finish(),
            ..self
        }
    }

    /// Structured content, and the same JSON as text, for clients without support for it.
    pub(crate) fn structured(json: String) -> Self {
        let text = Self::text(&json);
        Self {
            structured: json,
            ..text
        }
    }

    /// The same for a value that is not an object: its structured content is an object with the member `result`.
    pub(crate) fn wrapped(json: &str) -> Self {
        let mut structured = ObjectWriter::new();
        structured.json("result", json);
        Self {
            structured: structured.finish(),
            ..Self::text(json)
        }
    }

    fn with_capacity(length: usize) -> Self {
        let mut json = String::with_capacity(START.len() + 40 + length);
        write_raw(&mut json, START);
        Self {
            json,
            structured: String::new(),
            meta: String::new(),
            is_error: false,
        }
    }

    fn push_text(&mut self, text: &str) {
        self.separate();
        write_object(&mut self.json, |block| {
            block.string("type", "text");
            block.string("text", text);
        });
    }

    fn separate(&mut self) {
        if self.json.len() > START.len() {
            write_raw(&mut self.json, ",");
        }
    }

    /// The whole result as JSON.
    #[inline(never)]
    pub(crate) fn into_json(mut self) -> String {
        write_raw(&mut self.json, "]");
        let mut json = ObjectWriter::resume(self.json);
        let is_error = if self.is_error { "true" } else { "" };
        for (name, value) in [
            ("structuredContent", &*self.structured),
            ("_meta", &*self.meta),
            ("isError", is_error),
        ] {
            if !value.is_empty() {
                json.json(name, value);
            }
        }
        json.finish()
    }
}
