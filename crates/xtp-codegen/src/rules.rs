//! Whose rules a schema is judged by.
//!
//! Two gatekeepers of XTP exist and disagree: the published JSON Schema of the language, and the
//! library that the official generators share. Each problem knows which of them refuses it.

/// How strictly a schema is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything is accepted that Rust can be made of and that means the same to others; a
    /// warning says where the published rules or the official library refuse it.
    #[default]
    Lenient,
    /// What the published JSON Schema refuses is an error.
    Strict,
    /// What the official library refuses is an error; of the published rules nothing is said.
    Compat,
}

/// What a schema may say, and how it is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) mode: Mode,
    /// Whether `oneOf` is part of the language.
    pub(crate) one_of: bool,
    /// Whether all properties of a schema without `required` are required.
    pub(crate) unlisted_required: bool,
}

/// Who refuses something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// We do, in every mode: no Rust could be right.
    Always,
    /// The published rules alone.
    Published,
    /// The published rules; everything else ignores it, although it was meant to say something.
    Ignored,
    /// The library alone; what was meant is not known for sure.
    Library,
    /// The library alone, although Rust can say it.
    LibraryNeedlessly,
    /// Both of them, although Rust can say it.
    BothNeedlessly,
    /// Nobody, but it hardly is what was meant.
    Nobody,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is generated.
    Error,
    /// Something else may refuse the schema, or understand it differently.
    Warning,
}

impl Refused {
    /// How bad it is in a mode; none if that mode does not speak of it.
    pub(crate) fn severity(self, mode: Mode) -> Option<Severity> {
        use Severity::{Error, Warning};
        match (self, mode) {
            (Self::Published, Mode::Compat) => None,
            (Self::Always, _)
            | (Self::Published | Self::Ignored, Mode::Strict)
            | (Self::Library, Mode::Lenient | Mode::Compat)
            | (Self::LibraryNeedlessly, Mode::Compat)
            | (Self::BothNeedlessly, Mode::Strict | Mode::Compat) => Some(Error),
            (Self::Published | Self::BothNeedlessly, Mode::Lenient)
            | (Self::Ignored, Mode::Lenient | Mode::Compat)
            | (Self::Library, Mode::Strict)
            | (Self::LibraryNeedlessly, Mode::Lenient | Mode::Strict)
            | (Self::Nobody, _) => Some(Warning),
        }
    }
}
