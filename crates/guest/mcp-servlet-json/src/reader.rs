//! The pull reader: one value, key or bracket at a time, straight from the bytes.
//!
//! Nothing here is generic, so it is compiled only once for all types. It never panics: every byte is fetched with
//! `get`, and the end of the text reads as a zero byte, which is invalid everywhere.

mod kind;
mod number;
pub(crate) mod scan;
mod skip;
mod string;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};

pub use kind::Kind;
pub(crate) use number::Number;

/// Reads JSON piece by piece.
///
/// Every method skips white space first, and leaves the reader directly after the piece that it has read.
///
/// ```
/// use mcp_servlet_json::{Error, Reader};
///
/// fn total(text: &str) -> Result<u64, Error> {
///     let mut reader = Reader::from(text);
///     let mut total = 0;
///     reader.begin_object()?;
///     while let Some(key) = reader.next_key()? {
///         if key == "price" {
///             total += reader.unsigned()?;
///         } else {
///             reader.skip()?;
///         }
///     }
///     reader.finish()?;
///     Ok(total)
/// }
///
/// assert_eq!(total(r#"{"price": 7, "tags": ["new"]}"#).unwrap(), 7);
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'de> {
    input: &'de [u8],
    /// The input as a string if it is known to be UTF-8; otherwise empty.
    utf8: &'de str,
    at: usize,
    /// The offset of the current value, or of the last one that was read.
    value: usize,
    /// How many more arrays and objects may be opened inside each other.
    depth: u8,
    /// An array or object was entered, and none of it has been read.
    fresh: bool,
}

/// The maximum nesting depth, the same as in `serde_json`.
pub(crate) const MAX_DEPTH: u8 = 127;

impl<'de> From<&'de str> for Reader<'de> {
    fn from(text: &'de str) -> Self {
        Self {
            utf8: text,
            ..Self::new(text.as_bytes())
        }
    }
}

impl<'de> Reader<'de> {
    /// A reader at the start of the bytes. Only strings that are read are checked for valid UTF-8.
    pub fn new(input: &'de [u8]) -> Self {
        Self {
            input,
            utf8: "",
            at: 0,
            value: 0,
            depth: MAX_DEPTH,
            fresh: false,
        }
    }

    /// The number of bytes that were read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Skips white space and returns the type of the next value.
    ///
    /// # Errors
    /// If the text ends, or the next byte does not begin a value.
    pub fn peek_kind(&mut self) -> Result<Kind, Error> {
        let kind = match self.peek() {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'-' | b'0'..=b'9' => Kind::Number,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => return Err(scan::expected(self.input, self.at, "a value")),
        };
        self.value = self.at;
        Ok(kind)
    }

    /// Reads `null`.
    ///
    /// # Errors
    /// If anything else follows.
    pub fn null(&mut self) -> Result<(), Error> {
        let first = self.peek();
        self.expect(Kind::Null, first == b'n')?;
        self.at = scan::word(self.input, self.at, b"null")?;
        Ok(())
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    /// If anything else follows.
    pub fn boolean(&mut self) -> Result<bool, Error> {
        let first = self.peek();
        let value = first == b't';
        self.expect(Kind::Bool, value || first == b'f')?;
        let word: &[u8] = if value { b"true" } else { b"false" };
        self.at = scan::word(self.input, self.at, word)?;
        Ok(value)
    }

    /// Enters an array; then call [`next_element`](Self::next_element) before each element.
    ///
    /// # Errors
    /// If anything else follows, or the nesting is too deep.
    #[inline]
    pub fn begin_array(&mut self) -> Result<(), Error> {
        self.enter(Kind::Array)
    }

    /// Whether another element follows. If none does, leaves the array.
    ///
    /// # Errors
    /// If neither a comma and an element nor the end of the array follows.
    #[inline]
    pub fn next_element(&mut self) -> Result<bool, Error> {
        self.next(b']')
    }

    /// Enters an object; then call [`next_key`](Self::next_key) before each value.
    ///
    /// # Errors
    /// If anything else follows, or the nesting is too deep.
    #[inline]
    pub fn begin_object(&mut self) -> Result<(), Error> {
        self.enter(Kind::Object)
    }

    /// Reads the next key and its colon. If no key follows, leaves the object.
    ///
    /// # Errors
    /// If neither a comma and a key nor the end of the object follows.
    pub fn next_key(&mut self) -> Result<Option<Cow<'de, str>>, Error> {
        if !self.next(b'}')? {
            return Ok(None);
        }
        let key = self.string_here()?;
        // Usually there is no white space before the colon.
        if self.byte() == b':' {
            self.at += 1;
        } else {
            self.colon()?;
        }
        Ok(Some(key))
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    /// If anything else follows.
    #[inline(never)]
    pub fn finish(&mut self) -> Result<(), Error> {
        self.peek();
        if self.at < self.input.len() {
            return Err(Error::new(ErrorKind::TrailingData, self.at));
        }
        Ok(())
    }

    /// Enters the next array or object without checking it or the depth, for a walk that does not recurse.
    pub(crate) fn enter_unlimited(&mut self) {
        self.at += 1;
        self.fresh = true;
    }

    /// Enters an array or an object.
    #[inline(never)]
    pub(crate) fn enter(&mut self, kind: Kind) -> Result<(), Error> {
        let first = self.peek();
        self.expect(kind, first == if kind == Kind::Array { b'[' } else { b'{' })?;
        let Some(depth) = self.depth.checked_sub(1) else {
            return Err(Error::new(ErrorKind::DepthLimit, self.at));
        };
        self.depth = depth;
        self.enter_unlimited();
        Ok(())
    }

    /// Whether another element or member follows. If the closing bracket follows, reads it and leaves.
    pub(crate) fn next(&mut self, close: u8) -> Result<bool, Error> {
        let mut next = self.peek();
        let fresh = std::mem::take(&mut self.fresh);
        if next == close {
            self.at += 1;
            self.depth = self.depth.wrapping_add(1);
            return Ok(false);
        }
        let object = close == b'}';
        if !fresh {
            if next != b',' {
                return Err(scan::unclosed(self.input, self.at, object));
            }
            self.at += 1;
            next = self.peek();
        }
        if object && next != b'"' {
            return Err(scan::expected(self.input, self.at, "a key"));
        }
        Ok(true)
    }

    /// Reads the colon after a key.
    pub(crate) fn colon(&mut self) -> Result<(), Error> {
        self.at = scan::colon(self.input, self.at)?;
        Ok(())
    }

    /// Moves to the number or the boolean in a key.
    pub(crate) fn begin_quoted(&mut self) -> Result<(), Error> {
        let first = self.peek();
        self.expect(Kind::String, first == b'"')?;
        let start = self.at;
        self.at += 1;
        if matches!(self.byte(), b'-' | b'0'..=b'9' | b't' | b'f') {
            return Ok(());
        }
        Err(Error::wrong_type(&["a number", "a boolean"], start))
    }

    /// Reads the quote after the number or the boolean in a key.
    pub(crate) fn end_quoted(&mut self) -> Result<(), Error> {
        if self.byte() != b'"' {
            return Err(scan::expected(self.input, self.at, "`\"`"));
        }
        self.at += 1;
        Ok(())
    }

    /// The offset of the current value, or of the last one that was read.
    pub(crate) fn value(&self) -> usize {
        self.value
    }

    /// Sets the offset that later errors refer to.
    pub(crate) fn set_value(&mut self, value: usize) {
        self.value = value;
    }

    /// The byte at the reader, or zero at the end.
    fn byte(&self) -> u8 {
        scan::byte(self.input, self.at)
    }

    /// Skips white space and returns the byte after it.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        let next = self.byte();
        if next > b' ' {
            return next;
        }
        self.at = scan::space(self.input, self.at);
        self.byte()
    }

    /// Marks the start of a value of this kind, or returns an error unless its first byte `fits`.
    #[inline]
    pub(crate) fn expect(&mut self, kind: Kind, fits: bool) -> Result<(), Error> {
        if !fits {
            return Err(self.mismatch(kind));
        }
        self.value = self.at;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn mismatch(&mut self, kind: Kind) -> Error {
        match self.peek_kind() {
            Ok(_) => Error::wrong_type(kind.expected(), self.at),
            Err(error) => error,
        }
    }
}
