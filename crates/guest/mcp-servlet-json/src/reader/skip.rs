//! Skipped values.

use super::{Reader, scan};
use crate::error::Error;

impl<'de> Reader<'de> {
    /// Skips a value of any type, checks all of it, and returns its text.
    ///
    /// # Errors
    /// If the value is not valid JSON, or nested too deeply.
    pub fn skip(&mut self) -> Result<&'de str, Error> {
        self.peek();
        let start = self.at;
        self.value = start;
        self.at = scan::value(self.input, start, self.depth)?;
        self.text(start, self.at)
    }

    /// Skips a value of any depth, without a stack of calls.
    ///
    /// Checks only the grammar, as `serde_json` does for ignored values. Depth, encoding and surrogates do not matter
    /// in a value that is not used.
    pub(crate) fn skip_leniently(&mut self) -> Result<(), Error> {
        let input = self.input;
        let mut open = Vec::new();
        let mut at = scan::space(input, self.at);
        self.value = at;
        loop {
            let first = scan::byte(input, at);
            if matches!(first, b'[' | b'{') {
                at = scan::space(input, at + 1);
                open.push(first == b'{');
                if scan::byte(input, at) != first + 2 {
                    at = self.key_or_element(at, first == b'{')?;
                    continue;
                }
            } else if first == b'"' {
                at = scan::string(input, at, true)?;
            } else {
                at = scan::value(input, at, 0)?;
            }
            match self.leave_leniently(&mut open, at)? {
                (end, true) => at = end,
                (end, false) => {
                    self.at = end;
                    return Ok(());
                }
            }
        }
    }

    /// Leaves the arrays and objects that end at a position. Returns the next position, and whether a value follows.
    fn leave_leniently(&self, open: &mut Vec<bool>, mut at: usize) -> Result<(usize, bool), Error> {
        while let Some(&object) = open.last() {
            let after = scan::space(self.input, at);
            match scan::byte(self.input, after) {
                b',' => {
                    let next = scan::space(self.input, after + 1);
                    return Ok((self.key_or_element(next, object)?, true));
                }
                b'}' if object => at = after + 1,
                b']' if !object => at = after + 1,
                _ => return Err(scan::unclosed(self.input, after, object)),
            }
            open.pop();
        }
        Ok((at, false))
    }

    fn key_or_element(&self, at: usize, object: bool) -> scan::Step {
        if object {
            scan::key(self.input, at, true)
        } else {
            Ok(at)
        }
    }
}
