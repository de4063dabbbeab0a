//! The keys of maps: strings. Some types read a number or a boolean from the string.

use serde::de::Visitor;
use serde::forward_to_deserialize_any;

use super::Deserializer;
use super::access::Variant;
use crate::error::Error;

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
