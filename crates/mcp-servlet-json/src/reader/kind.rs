//! The types of JSON values.

/// The type of a JSON value, as its first byte tells.
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
    /// How an error says that this kind was expected.
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
