//! The types of JSON values.

/// The type of a JSON value, which its first byte determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The expected types in an error that expected this kind.
    pub(crate) fn expected(self) -> &'static [&'static str] {
        match self {
            Self::Null => &["null"],
            Self::Bool => &["a boolean"],
            Self::Number => &["a number"],
            Self::String => &["a string"],
            Self::Array => &["an array"],
            Self::Object => &["an object"],
        }
    }
}
