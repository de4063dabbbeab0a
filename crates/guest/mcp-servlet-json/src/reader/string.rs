//! Strings: runs of plain bytes, and escapes between them.

use std::borrow::Cow;

use super::{Kind, Reader, scan};
use crate::error::{Error, ErrorKind};
use crate::write::write_raw;

impl<'de> Reader<'de> {
    /// Reads a string: borrowed if it has no escapes.
    ///
    /// # Errors
    /// If anything else follows, or the string is not valid.
    pub fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        let first = self.peek();
        self.expect(Kind::String, first == b'"')?;
        self.string_here()
    }

    /// Reads the string whose opening quote is at the reader.
    pub(super) fn string_here(&mut self) -> Result<Cow<'de, str>, Error> {
        self.value = self.at;
        let start = self.at + 1;
        let end = scan::run(self.input, start);
        let text = self.text(start, end)?;
        if scan::byte(self.input, end) == b'"' {
            self.at = end + 1;
            return Ok(Cow::Borrowed(text));
        }
        self.escaped(text, end).map(Cow::Owned)
    }

    /// Reads the rest of a string with escapes. `at` is the first escape; the text before it has been read.
    #[cold]
    #[inline(never)]
    fn escaped(&mut self, start: &str, mut at: usize) -> Result<String, Error> {
        let mut owned = String::new();
        write_raw(&mut owned, start);
        while scan::byte(self.input, at) != b'"' {
            let (after, char) = scan::escape(self.input, at, false)?;
            at = scan::run(self.input, after);
            write_raw(&mut owned, char.encode_utf8(&mut [0; 4]));
            write_raw(&mut owned, self.text(after, at)?);
        }
        self.at = at + 1;
        Ok(owned)
    }

    /// The text between two positions.
    #[inline(never)]
    pub(super) fn text(&self, start: usize, end: usize) -> Result<&'de str, Error> {
        match self.utf8.get(start..end) {
            Some(text) => Ok(text),
            None => self.checked(start, end),
        }
    }

    /// The same for input that is not known to be UTF-8.
    #[cold]
    #[inline(never)]
    fn checked(&self, start: usize, end: usize) -> Result<&'de str, Error> {
        let bytes = self.input.get(start..end).unwrap_or_default();
        std::str::from_utf8(bytes)
            .map_err(|error| Error::new(ErrorKind::InvalidUtf8, start + error.valid_up_to()))
    }
}
