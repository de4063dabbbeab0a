//! Where the parts of an expression are in its text.

use std::ops::Range;

use cel::common::ast::SourceInfo;

/// The text of an expression with the positions of its parts.
pub(super) struct Source {
    pub(super) text: String,
    info: SourceInfo,
}

impl Source {
    pub(super) fn new(text: &str, info: SourceInfo) -> Self {
        let text = text.to_owned();
        Self { text, info }
    }

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

    /// The bytes of an operator, if the part's token is this.
    pub(super) fn symbol(&self, id: u64, symbol: &str) -> Option<Range<usize>> {
        let at = self.byte(id);
        self.text[at..]
            .starts_with(symbol)
            .then(|| at..at + symbol.len())
    }

    /// The first byte of a part. `cel` counts characters.
    fn byte(&self, id: u64) -> usize {
        let character = self.info.offset_for(id).map_or(0, |(start, _)| start);
        let mut starts = self.text.char_indices().map(|(at, _)| at);
        let at = starts.nth(usize::try_from(character).unwrap_or(usize::MAX));
        at.unwrap_or(self.text.len())
    }
}
