//! The result of a tool, while it is written.

use mcp_servlet_json::{RawJson, to_writer, write_raw, write_string};
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
    /// The result so far, as JSON without its end: `{"content":[…`
    json: String,
    /// The members after the content, each with a comma before it.
    tail: String,
    /// Where `_meta` begins in the tail.
    meta: usize,
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
    pub fn with_meta(mut self, meta: RawJson) -> Self {
        self.tail.truncate(self.meta);
        write_raw(&mut self.tail, ",\"_meta\":");
        write_raw(&mut self.tail, &meta.into_string());
        self
    }

    /// Sets `_meta` to an object with one member.
    pub(crate) fn with_meta_member(mut self, key: &str, json: &str) -> Self {
        write_raw(&mut self.tail, ",\"_meta\":{");
        write_string(&mut self.tail, key);
        for part in [":", json, "}"] {
            write_raw(&mut self.tail, part);
        }
        self
    }

    /// Sets `structuredContent`, between `before` and `after`, and adds the JSON as text, for clients
    /// without support for it.
    pub(crate) fn structured(before: &str, json: &str, after: &str) -> Self {
        let mut result = Self::text(json);
        for part in [",\"structuredContent\":", before, json, after] {
            write_raw(&mut result.tail, part);
        }
        result.meta = result.tail.len();
        result
    }

    fn with_capacity(length: usize) -> Self {
        let mut json = String::with_capacity(START.len() + 40 + length);
        write_raw(&mut json, START);
        Self {
            json,
            tail: String::new(),
            meta: 0,
            is_error: false,
        }
    }

    fn push_text(&mut self, text: &str) {
        self.separate();
        self.raw("{\"type\":\"text\",\"text\":");
        write_string(&mut self.json, text);
        self.raw("}");
    }

    fn separate(&mut self) {
        if self.json.len() > START.len() {
            self.raw(",");
        }
    }

    fn raw(&mut self, json: &str) {
        write_raw(&mut self.json, json);
    }

    /// The whole result as JSON.
    #[inline(never)]
    pub(crate) fn into_json(mut self) -> String {
        self.raw("]");
        write_raw(&mut self.json, &self.tail);
        self.raw(if self.is_error {
            ",\"isError\":true}"
        } else {
            "}"
        });
        self.json
    }
}
