//! Errors and their offsets.
//!
//! An [`Error`] is the size of a pointer, which keeps results small on the hot path. It has an offset and no path: the
//! JSON pointer and the line are computed from the text on demand.

#[cfg(test)]
mod tests;

use std::fmt::{self, Display};

use serde::de::{Expected, Unexpected};

/// An error while reading JSON or writing a value.
///
/// ```
/// use mcp_servlet_json::{ErrorKind, from_str};
///
/// let text = r#"{"size": [1, -2]}"#;
/// let error = from_str::<std::collections::BTreeMap<String, Vec<u8>>>(text).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::NumberOutOfRange);
/// assert_eq!(error.pointer(text), "/size/1");
/// assert_eq!(error.line_column(text), Some((1, 14)));
/// assert_eq!(error.to_string(), "number out of range at offset 13");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind<'static>,
    /// The text of a `Custom`, `UnknownField` or `UnknownVariant` that is not static.
    text: Box<str>,
    expected: &'static [&'static str],
    offset: usize,
}

/// The offset of an error whose position is not known yet.
const NOWHERE: usize = usize::MAX;

/// The kinds of [`Error`]: first invalid JSON, then valid JSON that does not match the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind<'a> {
    /// The text ends inside a value.
    UnexpectedEnd,
    /// This was expected and not found: a value, a key, a comma, …
    Expected(&'static str),
    /// A backslash does not begin a JSON escape.
    InvalidEscape,
    /// A `\u` escape is half of a surrogate pair.
    LoneSurrogate,
    /// A string contains an unescaped control character.
    ControlCharacter,
    /// A number breaks the grammar, such as `01`, `1.` or `-`.
    InvalidNumber,
    /// The value is followed by something other than white space.
    TrailingData,
    /// Arrays and objects are nested deeper than 127 levels.
    DepthLimit,
    /// The bytes of a string are not UTF-8.
    InvalidUtf8,
    /// The number does not fit the wanted type.
    NumberOutOfRange,
    /// The value has another type than expected.
    WrongType,
    /// The value has the right type but is not one of the accepted values.
    InvalidValue,
    /// An array, a map or a string is too long or too short.
    InvalidLength,
    /// An object lacks this field.
    MissingField(&'static str),
    /// An object has this field twice.
    DuplicateField(&'static str),
    /// An object has this field, which the type does not have.
    UnknownField(&'a str),
    /// An enum has no variant of this name.
    UnknownVariant(&'a str),
    /// A message from a `Deserialize` or `Serialize` implementation.
    Custom(&'a str),
}

impl Error {
    /// An error at an offset of the text.
    #[cold]
    #[inline(never)]
    pub fn new(kind: ErrorKind<'static>, offset: usize) -> Self {
        Self(Box::new(Inner {
            kind,
            text: Box::default(),
            expected: &[],
            offset,
        }))
    }

    /// An error with your own message at an offset of the text.
    #[cold]
    pub fn custom_at(message: &str, offset: usize) -> Self {
        let mut error = Self::new(ErrorKind::Custom(""), offset);
        error.0.text = message.into();
        error
    }

    /// The value at `offset` has another type than `expected`, such as `&["a string"]`.
    #[cold]
    #[inline(never)]
    pub fn wrong_type(expected: &'static [&'static str], offset: usize) -> Self {
        let mut error = Self::new(ErrorKind::WrongType, offset);
        error.0.expected = expected;
        error
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind<'_> {
        let own = &*self.0.text;
        match self.0.kind {
            ErrorKind::UnknownField(text) => ErrorKind::UnknownField(either(own, text)),
            ErrorKind::UnknownVariant(text) => ErrorKind::UnknownVariant(either(own, text)),
            ErrorKind::Custom(text) => ErrorKind::Custom(either(own, text)),
            kind => kind,
        }
    }

    /// The expected names or types; empty if they are not known.
    ///
    /// For an unknown field or variant, these are the known ones. For a wrong type, these are the accepted types.
    pub fn expected(&self) -> &'static [&'static str] {
        self.0.expected
    }

    /// The byte offset of invalid JSON, or of the start of the innermost wrong value.
    ///
    /// Zero for an error of a serializer, which has no text.
    pub fn offset(&self) -> usize {
        self.known_offset().unwrap_or(0)
    }

    /// The offset; `None` if it is not known.
    #[inline]
    pub(crate) fn known_offset(&self) -> Option<usize> {
        (self.0.offset != NOWHERE).then_some(self.0.offset)
    }

    /// The same error at `offset`, unless it already has an offset.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        if self.0.offset == NOWHERE {
            self.0.offset = offset;
        }
        self
    }

    #[cold]
    #[inline(never)]
    fn named(kind: ErrorKind<'static>, name: &str, expected: &'static [&'static str]) -> Self {
        let mut error = Self::custom_at(name, NOWHERE);
        error.0.kind = kind;
        error.0.expected = expected;
        error
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn message(text: String) -> Self {
        let mut error = Self::new(ErrorKind::Custom(""), NOWHERE);
        error.0.text = text.into_boxed_str();
        error
    }

    fn sentence(&self) -> String {
        let mut out = String::new();
        let (text, name) = self.kind().words();
        crate::write_raw(&mut out, text);
        crate::write_raw(&mut out, name);
        if text.ends_with('`') {
            crate::write_raw(&mut out, "`");
        }
        self.push_expected(&mut out);
        if let Some(offset) = self.known_offset() {
            crate::write_raw(&mut out, " at offset ");
            crate::write_u64(&mut out, offset as u64);
        }
        out
    }

    fn push_expected(&self, out: &mut String) {
        let mut separator = ", expected ";
        for name in self.0.expected {
            crate::write_raw(out, separator);
            crate::write_raw(out, name);
            separator = " or ";
        }
    }
}

fn either<'a>(own: &'a str, fixed: &'static str) -> &'a str {
    if own.is_empty() { fixed } else { own }
}

impl<'a> ErrorKind<'a> {
    /// The message of the kind, and the name that follows it. A message that ends with a backtick quotes the name.
    fn words(self) -> (&'a str, &'a str) {
        let text = match self {
            Self::UnexpectedEnd => "unexpected end of the text",
            Self::Expected(what) => return ("expected ", what),
            Self::InvalidEscape => "invalid escape",
            Self::LoneSurrogate => "lone surrogate",
            Self::ControlCharacter => "control character in a string",
            Self::InvalidNumber => "invalid number",
            Self::TrailingData => "trailing data",
            Self::DepthLimit => "nested too deeply",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::NumberOutOfRange => "number out of range",
            Self::WrongType => "wrong type",
            Self::InvalidValue => "invalid value",
            Self::InvalidLength => "invalid length",
            Self::MissingField(name) => return ("missing field `", name),
            Self::DuplicateField(name) => return ("duplicate field `", name),
            Self::UnknownField(name) => return ("unknown field `", name),
            Self::UnknownVariant(name) => return ("unknown variant `", name),
            Self::Custom(text) => text,
        };
        (text, "")
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Error(")?;
        f.write_str(&self.sentence())?;
        f.write_str(")")
    }
}

impl std::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self::message(message.to_string())
    }
}

// serde's `Unexpected` and `Expected` are never formatted: that code, with the float printing that it links, is larger
// than this crate. The offset leads to the value that was found, and the schema says what was expected.
#[expect(
    clippy::inline_always,
    reason = "so that the values for the unused messages are not even built"
)]
impl serde::de::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self::message(message.to_string())
    }

    #[inline(always)]
    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::new(ErrorKind::WrongType, NOWHERE)
    }

    #[inline(always)]
    fn invalid_value(found: Unexpected<'_>, _: &dyn Expected) -> Self {
        let kind = match found {
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => {
                ErrorKind::NumberOutOfRange
            }
            _ => ErrorKind::InvalidValue,
        };
        Self::new(kind, NOWHERE)
    }

    #[inline(always)]
    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::new(ErrorKind::InvalidLength, NOWHERE)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::named(ErrorKind::UnknownVariant(""), variant, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::named(ErrorKind::UnknownField(""), field, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(ErrorKind::MissingField(field), NOWHERE)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(ErrorKind::DuplicateField(field), NOWHERE)
    }
}
