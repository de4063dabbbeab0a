//! serde's access to arrays, objects and enum variants.

use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

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

/// An enum variant: a string with its name, or (`tagged`) the only key of an object.
pub(super) struct Variant<'a, 'de> {
    pub(super) de: &'a mut Deserializer<'de>,
    pub(super) tagged: bool,
}

impl Variant<'_, '_> {
    /// Checks that the variant has content.
    fn content(&self) -> Result<(), Error> {
        if self.tagged {
            Ok(())
        } else {
            Err(Error::wrong_type(
                Kind::Object.expected(),
                self.de.reader.value(),
            ))
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name = seed.deserialize(Key(&mut *self.de))?;
        if self.tagged {
            self.de.reader.colon()?;
        }
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if self.tagged {
            self.de.reader.null()
        } else {
            Ok(())
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.content()?;
        seed.deserialize(self.de)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.content()?;
        self.de.visit_array(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content()?;
        self.de.visit_object(visitor)
    }
}
