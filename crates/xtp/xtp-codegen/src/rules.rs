//! The rules by which a schema is judged.
//!
//! XTP has two sets of rules, which disagree: the published JSON Schema of the language, and the library that the
//! official generators share. Each problem has the set that refuses it.

/// How strictly a schema is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Accepts everything that Rust can express and that means the same to others. A warning names what the published
    /// rules or the official library refuse.
    #[default]
    Lenient,
    /// Everything that the published JSON Schema refuses is an error.
    Strict,
    /// Everything that the official library refuses is an error; the published rules do not apply.
    Compat,
}

/// What a schema may contain, and how it is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadOptions {
    pub(crate) mode: Mode,
    /// Whether `oneOf` is part of the language.
    pub(crate) one_of: bool,
    /// Whether all properties of a schema without `required` are required.
    pub(crate) unlisted_required: bool,
}

/// What a construct breaks, which decides the modes that refuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Every mode: no Rust type would be right.
    Always,
    /// Only the published rules.
    Published,
    /// Only the published rules. All others ignore the construct, although its author meant something by it.
    Ignored,
    /// Only the library. The author's intention is unclear.
    Library,
    /// Only the library, although Rust can express the construct.
    LibraryNeedlessly,
    /// Both, although Rust can express the construct.
    BothNeedlessly,
    /// No mode. The construct is allowed, but probably a mistake.
    Lint,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The generator stops.
    Error,
    /// Other tools may refuse the schema, or understand it differently.
    Warning,
}

impl Rule {
    /// The severity in a mode; `None` if the mode does not report the problem.
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
            | (Self::Lint, _) => Some(Warning),
        }
    }
}
