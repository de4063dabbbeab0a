//! The keys of maps, and enum variants, whose names are keys.
//!
//! A key is a string. Some types read a number or a boolean from it.

use serde::de::{DeserializeSeed, EnumAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::Deserializer;
use crate::error::Error;
use crate::reader::Kind;

/// Deserializes a key, without its colon.
pub(super) struct Key<'a, 'de>(pub(super) &'a mut Deserializer<'de>);

impl<'de> Key<'_, 'de> {
    fn unquoted<T>(
        self,
        read: impl FnOnce(&mut Deserializer<'de>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.0.reader.begin_quoted()?;
        let value = read(self.0)?;
        self.0.reader.end_quoted()?;
        Ok(value)
    }
}

macro_rules! unquoted {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.unquoted(|de| de.$method(visitor))
        }
    )*};
}

impl<'de> serde::Deserializer<'de> for Key<'_, 'de> {
    type Error = Error;

    unquoted! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.visit_text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let result = visitor.visit_enum(Variant {
            de: &mut *self.0,
            tagged: false,
        });
        self.0.locate(result)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_bytes(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
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
