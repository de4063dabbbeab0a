//! Reads results of tools.

use crate::CallToolResult;

impl CallToolResult {
    /// The text of the content. Several texts are joined by line breaks; other content is left out.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|one| one.text.as_deref());
        texts.collect::<Vec<_>>().join("\n")
    }
}
