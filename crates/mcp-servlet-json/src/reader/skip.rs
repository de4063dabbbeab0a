//! Values that nobody looks into.

use super::{Kind, Reader};
use crate::error::{Error, ErrorKind};

impl<'de> Reader<'de> {
    /// Skips a value of any type, checks all of it, and returns it as it is written.
    ///
    /// # Errors
    /// If the value is not valid JSON, or nested too deeply.
    pub fn skip(&mut self) -> Result<&'de str, Error> {
        self.peek_kind()?;
        let start = self.at;
        self.skip_value(false)?;
        self.value = start;
        self.text(start)
    }

    /// Skips a value without a stack of calls.
    ///
    /// Leniently, only the grammar counts, as when `serde_json` ignores a value: the depth, the encoding and the
    /// surrogates of what nobody reads do no harm.
    pub(crate) fn skip_value(&mut self, lenient: bool) -> Result<(), Error> {
        let limit = if lenient {
            usize::MAX
        } else {
            usize::from(self.depth)
        };
        let mut open = Vec::new();
        loop {
            match self.peek_kind()? {
                Kind::Null => self.null()?,
                Kind::Bool => drop(self.boolean()?),
                Kind::Number => self.skip_number()?,
                Kind::String => self.skip_string(lenient)?,
                kind => {
                    if open.len() >= limit {
                        return Err(Error::new(ErrorKind::DepthLimit, self.at));
                    }
                    open.push(kind == Kind::Object);
                    self.enter_unlimited();
                }
            }
            loop {
                let Some(&object) = open.last() else {
                    return Ok(());
                };
                if self.more(if object { b'}' } else { b']' })? {
                    if object {
                        self.skip_string(lenient)?;
                        self.colon()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }
}
