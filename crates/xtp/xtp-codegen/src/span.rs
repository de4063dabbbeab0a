//! Positions in a schema: a range of the source, and the JSON pointer of the node.

use std::fmt;
use std::sync::Arc;

/// A source with its name for messages, usually the file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    name: Arc<str>,
    text: Arc<str>,
}

impl Origin {
    /// Names a source.
    pub fn new(name: impl AsRef<str>, text: impl AsRef<str>) -> Self {
        Self {
            name: name.as_ref().into(),
            text: text.as_ref().into(),
        }
    }

    /// The source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of the first character after a range of the source.
    pub(crate) fn end_of(&self, span: Span) -> (usize, usize) {
        let end = span.offset + span.len;
        let inside = self.text.get(span.offset..end).unwrap_or_default();
        match inside.rsplit_once('\n') {
            Some((before, last)) => {
                let breaks = before.matches('\n').count() + 1;
                (span.line + breaks, last.chars().count() + 1)
            }
            None => (span.line, span.column + inside.chars().count()),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A range of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub offset: usize,
    /// Length in bytes.
    pub len: usize,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

/// A JSON Pointer (RFC 6901) as a URI fragment: `#/exports/call`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer(String);

impl Pointer {
    pub(crate) fn root() -> Self {
        Self("#".to_owned())
    }

    /// The pointer to the child `key`.
    pub(crate) fn child(&self, key: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{key}", self.0))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A position in one document, as a range and as a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) span: Span,
    pub(crate) pointer: Pointer,
}
