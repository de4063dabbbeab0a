//! Strings: runs of plain bytes, and escapes between them.

use std::borrow::Cow;

use super::{Kind, Reader};
use crate::error::{Error, ErrorKind};

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// How many bytes come before the first quote, backslash or control character.
///
/// Eight bytes are looked at together, with the usual arithmetic that finds a zero or a small byte in a word.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((chunk, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let found = quote.wrapping_sub(ONES) & !quote
            | backslash.wrapping_sub(ONES) & !backslash
            | word.wrapping_sub(ONES * 0x20) & !word;
        if found & HIGH != 0 {
            break;
        }
        rest = after;
    }
    while let Some((byte, after)) = rest.split_first() {
        if matches!(byte, b'"' | b'\\' | ..0x20) {
            break;
        }
        rest = after;
    }
    bytes.len() - rest.len()
}

impl<'de> Reader<'de> {
    /// Reads a string: borrowed if it has no escapes.
    ///
    /// # Errors
    /// If anything else comes, or the string is not valid.
    pub fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        let first = self.peek();
        self.expect(Kind::String, first == b'"')?;
        self.at += 1;
        let mut text = self.plain()?;
        if self.byte() == b'"' {
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut owned = String::new();
        loop {
            owned.push_str(text);
            let byte = self.byte();
            if byte == b'"' {
                self.at += 1;
                return Ok(Cow::Owned(owned));
            }
            owned.push(self.escape(false)?);
            text = self.plain()?;
        }
    }

    /// Skips a string of which the opening quote is at the reader. See [`Reader::skip_value`] for `lenient`.
    pub(super) fn skip_string(&mut self, lenient: bool) -> Result<(), Error> {
        self.at += 1;
        loop {
            self.skip_run();
            if self.byte() == b'"' {
                self.at += 1;
                return Ok(());
            }
            self.escape(lenient)?;
        }
    }

    /// The text from `start` to the reader.
    pub(super) fn text(&self, start: usize) -> Result<&'de str, Error> {
        if let Some(text) = self.utf8.get(start..self.at) {
            return Ok(text);
        }
        let bytes = self.input.get(start..self.at).unwrap_or_default();
        std::str::from_utf8(bytes)
            .map_err(|error| Error::new(ErrorKind::InvalidUtf8, start + error.valid_up_to()))
    }

    fn skip_run(&mut self) {
        self.at += run(self.input.get(self.at..).unwrap_or_default());
    }

    /// Reads plain characters, up to a quote or an escape or something that is wrong.
    fn plain(&mut self) -> Result<&'de str, Error> {
        let start = self.at;
        self.skip_run();
        self.text(start)
    }

    /// Reads an escape. Leniently, half a surrogate pair is an escape too.
    fn escape(&mut self, lenient: bool) -> Result<char, Error> {
        let start = self.at;
        if self.byte() != b'\\' {
            return Err(self.broken(ErrorKind::ControlCharacter));
        }
        self.at += 1;
        let char = match self.byte() {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(start, lenient),
            _ => return Err(self.broken(ErrorKind::InvalidEscape)),
        };
        self.at += 1;
        Ok(char)
    }

    fn unicode(&mut self, start: usize, lenient: bool) -> Result<char, Error> {
        let high = self.hex()?;
        if lenient {
            return Ok('\0');
        }
        let mut code = high;
        if (0xD800..0xDC00).contains(&high) && self.byte() == b'\\' {
            self.at += 1;
            if self.byte() == b'u' {
                let low = self.hex()?;
                if (0xDC00..0xE000).contains(&low) {
                    code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                }
            }
        }
        char::from_u32(code).ok_or_else(|| Error::new(ErrorKind::LoneSurrogate, start))
    }

    /// Reads a `u` and four hexadecimal digits.
    fn hex(&mut self) -> Result<u32, Error> {
        let mut unit = 0;
        for _ in 0..4 {
            self.at += 1;
            let Some(digit) = char::from(self.byte()).to_digit(16) else {
                return Err(self.broken(ErrorKind::InvalidEscape));
            };
            unit = unit << 4 | digit;
        }
        self.at += 1;
        Ok(unit)
    }
}
