//! Reads results of tools.

use crate::{CallToolResult, Content};

impl CallToolResult {
    /// The text of the content. Several texts are joined by line breaks; other content is left out.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(Content::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }
}
