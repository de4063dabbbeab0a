//! Where the parts of an expression are in its text.

use std::ops::Range;

use cel::common::ast::SourceInfo;

/// The text of an expression with the positions of its parts.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) info: &'a SourceInfo,
}

impl Source<'_> {
    /// The bytes of a name: the first place at or after the part's token, or else the last one before it.
    pub(super) fn name(&self, id: u64, name: &str) -> Range<usize> {
        let at = self.byte(id);
        let after = self.text[at..].find(name).map(|found| at + found);
        let found = after.or_else(|| self.text[..at].rfind(name));
        found.map_or(0..self.text.len(), |start| start..start + name.len())
    }

    /// The bytes of the name of a function, which is before its arguments.
    pub(super) fn function(&self, id: u64, name: &str) -> Range<usize> {
        let at = self.byte(id);
        match self.text[..at].rfind(name) {
            Some(start) => start..start + name.len(),
            None => self.name(id, name),
        }
    }

    /// The first byte of a part. `cel` counts characters.
    fn byte(&self, id: u64) -> usize {
        let character = self.info.offset_for(id).map_or(0, |(start, _)| start);
        let mut starts = self.text.char_indices().map(|(at, _)| at);
        let at = starts.nth(usize::try_from(character).unwrap_or(usize::MAX));
        at.unwrap_or(self.text.len())
    }
}
