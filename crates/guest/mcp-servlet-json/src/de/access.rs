//! serde's access to arrays and objects.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::Deserializer;
use super::key::Key;
use crate::error::{Error, ErrorKind};
use crate::reader::Kind;

/// An array or an object that the reader has entered.
pub(super) struct Access<'a, 'de> {
    pub(super) de: &'a mut Deserializer<'de>,
    /// The offset of its first byte.
    start: usize,
    close: u8,
    /// The closing bracket has not been read yet.
    open: bool,
}

impl<'a, 'de> Access<'a, 'de> {
    #[inline(never)]
    pub(super) fn enter(de: &'a mut Deserializer<'de>, kind: Kind) -> Result<Self, Error> {
        de.reader.enter(kind)?;
        let start = de.reader.value();
        let close = if kind == Kind::Array { b']' } else { b'}' };
        Ok(Self {
            de,
            start,
            close,
            open: true,
        })
    }

    /// Whether another element or member follows.
    #[inline(never)]
    fn advance(&mut self) -> Result<bool, Error> {
        if self.open && self.de.reader.next(self.close)? {
            return Ok(true);
        }
        self.open = false;
        self.de.reader.set_value(self.start);
        Ok(false)
    }

    /// Checks that the visitor has read everything.
    #[inline(never)]
    pub(super) fn leave(mut self) -> Result<(), Error> {
        if self.advance()? {
            Err(Error::new(ErrorKind::InvalidLength, self.start))
        } else {
            Ok(())
        }
    }

    /// Moves to the key that names the variant of an enum.
    #[inline(never)]
    pub(super) fn first_key(&mut self) -> Result<(), Error> {
        if self.advance()? {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::InvalidLength, self.start))
        }
    }
}

impl<'de> SeqAccess<'de> for Access<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.advance()? {
            seed.deserialize(&mut *self.de).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<'de> MapAccess<'de> for Access<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if !self.advance()? {
            return Ok(None);
        }
        let key = seed.deserialize(Key(&mut *self.de))?;
        self.de.reader.colon()?;
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.de)
    }
}
