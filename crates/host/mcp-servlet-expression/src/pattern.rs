//! Patterns of `matches`, and what it costs to match them.

use regex::{Error, Regex, RegexBuilder};

/// The smallest size of a compiled pattern in bytes. Larger ones are rounded up to a power of two.
const MIN_PATTERN: usize = 1 << 10;

/// The maximum size of a compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// A compiled pattern.
pub(super) struct Pattern {
    regex: Regex,
    /// The size of its automaton in bytes, which grows with its states.
    size: usize,
}

impl Pattern {
    /// Compiles a pattern.
    pub(super) fn new(text: &str) -> Result<Self, Error> {
        // `regex` does not tell the size, but it has a limit for it.
        let mut size = MIN_PATTERN;
        loop {
            match RegexBuilder::new(text).size_limit(size).build() {
                Ok(regex) => return Ok(Self { regex, size }),
                Err(Error::CompiledTooBig(_)) if size < MAX_PATTERN => size *= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// What it costs to match a text, in bytes. At worst, each byte of the text leads to all states.
    pub(super) fn cost(&self, text: &str) -> u64 {
        text.len() as u64 * (self.size / 128) as u64
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}
