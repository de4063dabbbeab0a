//! The position of an error for people: a line and column, or a JSON pointer.

use crate::error::Error;
use crate::reader::{Kind, Reader};
use crate::write::write_pointer_step;

impl Error {
    /// The line and the column of the error. Both start at 1; the column counts characters.
    ///
    /// `None` if the error has no offset, or its offset is outside this text.
    pub fn line_column(&self, text: &str) -> Option<(usize, usize)> {
        let before = text.as_bytes().get(..self.known_offset()?)?;
        let (mut line, mut column) = (1, 1);
        for byte in before {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                // Continuation bytes of a UTF-8 character.
                0x80..0xC0 => {}
                _ => column += 1,
            }
        }
        Some((line, column))
    }

    /// The JSON pointer (RFC 6901) of the wrong value: empty for the whole document.
    ///
    /// `text` must be the text that was read: the method walks it up to the error. If the text is incomplete or not
    /// valid JSON, the pointer leads to the innermost value around the error.
    pub fn pointer(&self, text: &str) -> String {
        let mut pointer = String::new();
        let Some(offset) = self.known_offset() else {
            return pointer;
        };
        let mut reader = Reader::from(text);
        while let Some(token) = child_at(&mut reader, offset) {
            write_pointer_step(&mut pointer, &token);
        }
        pointer
    }
}

/// Enters the array or object at the reader, stops at the child that contains the offset, and returns its name.
fn child_at(reader: &mut Reader<'_>, offset: usize) -> Option<String> {
    let kind = reader.peek_kind().ok()?;
    if offset <= reader.offset() {
        return None;
    }
    match kind {
        Kind::Array => element_at(reader, offset),
        Kind::Object => member_at(reader, offset),
        _ => None,
    }
}

fn element_at(reader: &mut Reader<'_>, offset: usize) -> Option<String> {
    reader.enter_unlimited();
    let mut index = 0;
    while reader.next_element().ok()? {
        if holds(reader, offset)? {
            let mut token = String::new();
            crate::write_u64(&mut token, index);
            return Some(token);
        }
        index += 1;
    }
    None
}

fn member_at(reader: &mut Reader<'_>, offset: usize) -> Option<String> {
    reader.enter_unlimited();
    while let Some(key) = reader.next_key().ok()? {
        if holds(reader, offset)? {
            return Some(key.into_owned());
        }
    }
    None
}

/// Whether the offset is in the value at the reader or in its key. If the offset is after the value, skips the value.
fn holds(reader: &mut Reader<'_>, offset: usize) -> Option<bool> {
    let mut after = reader.clone();
    let end = after.skip_leniently().is_ok();
    if reader.peek_kind().is_err() && offset != reader.offset() {
        return None;
    }
    if end && after.offset() <= offset {
        *reader = after;
        return Some(false);
    }
    Some(true)
}
