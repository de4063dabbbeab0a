//! Places in a schema: a span of text, and the path of keys that leads there.

use std::fmt;
use std::sync::Arc;

/// What a text is called in messages, usually its file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(Arc<str>);

impl Origin {
    /// Names a text.
    pub fn new(name: impl AsRef<str>) -> Self {
        Self(name.as_ref().into())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A stretch of a text, by its first character and its length.
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

    /// The place under `key`.
    pub(crate) fn child(&self, key: &str) -> Self {
        let key = key.replace('~', "~0").replace('/', "~1");
        Self(format!("{}/{key}", self.0))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A place in one document, in both of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) span: Span,
    pub(crate) pointer: Pointer,
}
