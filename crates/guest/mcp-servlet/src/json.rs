//! Reads JSON text that is our own, or was parsed before, so that there is no error to report.

use std::borrow::Cow;

use mcp_servlet_json::{Kind, Reader, write_u64};

/// The children of a JSON array or object: name or index, and JSON text. Any other value has none.
pub(crate) struct Children<'a> {
    reader: Reader<'a>,
    /// The index of the next element, in an array.
    index: Option<u64>,
}

impl<'a> Children<'a> {
    pub(crate) fn new(json: &'a str) -> Self {
        let mut reader = Reader::from(json);
        let is_array = matches!(reader.peek_kind(), Ok(Kind::Array));
        // For a value that is neither, `next_key` returns nothing.
        let _ = if is_array {
            reader.begin_array()
        } else {
            reader.begin_object()
        };
        Self {
            reader,
            index: is_array.then_some(0),
        }
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let name = match &mut self.index {
            None => self.reader.next_key().ok()??,
            Some(index) => {
                if !self.reader.next_element().ok()? {
                    return None;
                }
                let mut name = String::new();
                write_u64(&mut name, *index);
                *index += 1;
                Cow::Owned(name)
            }
        };
        Some((name, self.reader.skip().ok()?))
    }
}

/// The member `name` of a JSON object, empty if there is none.
pub(crate) fn member<'a>(json: &'a str, name: &str) -> &'a str {
    Children::new(json)
        .find(|(key, _)| key == name)
        .map_or("", |(_, text)| text)
}
