//! The deserializer: a thin generic layer over the [`Reader`].
//!
//! Code that does not depend on the target type is in the reader, so that each type adds little code.

mod access;
mod key;
mod verbatim;

use std::borrow::Cow;

use serde::de::{Deserialize, Visitor};

use crate::error::Error;
use crate::reader::{Kind, Number, Reader};
use crate::token::TOKEN;
use access::Access;
use key::Variant;
use verbatim::Verbatim;

/// Deserializes values from a text, one after the other.
///
/// ```
/// let mut deserializer = mcp_servlet_json::Deserializer::from_slice(b"7 [true]");
/// assert_eq!(deserializer.value::<u8>().unwrap(), 7);
/// assert_eq!(deserializer.value::<(bool,)>().unwrap(), (true,));
/// deserializer.finish().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Deserializer<'de> {
    reader: Reader<'de>,
}

impl<'de> From<Reader<'de>> for Deserializer<'de> {
    /// A deserializer for the rest of the reader's input.
    fn from(reader: Reader<'de>) -> Self {
        Self { reader }
    }
}

impl<'de> From<&'de str> for Deserializer<'de> {
    fn from(text: &'de str) -> Self {
        Self::from(Reader::from(text))
    }
}

impl<'de> Deserializer<'de> {
    /// A deserializer at the start of the bytes.
    pub fn from_slice(input: &'de [u8]) -> Self {
        Reader::new(input).into()
    }

    /// Deserializes the next value.
    ///
    /// Does the same as `T::deserialize(&mut deserializer)`, and also sets the offset of errors that `T` raises outside
    /// of serde's visitors, as `#[serde(try_from = "…")]` does.
    ///
    /// # Errors
    /// If the next value is not valid JSON, or not a `T`.
    pub fn value<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let result = T::deserialize(&mut *self);
        self.locate(result)
    }

    /// Checks that only white space is left.
    ///
    /// # Errors
    /// If anything else is left.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.reader.finish()
    }

    /// The reader, at the end of what was deserialized.
    pub fn reader(&mut self) -> &mut Reader<'de> {
        &mut self.reader
    }

    /// Sets the offset of an error that has none to the start of the innermost value.
    #[expect(
        clippy::inline_always,
        reason = "it is smaller than the call of a copy for every `T`"
    )]
    #[inline(always)]
    fn locate<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(error.at(self.reader.value())),
        }
    }

    fn visit_text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let result = match self.reader.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        };
        self.locate(result)
    }

    /// Visits an integer, without the code for floats.
    fn visit_integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let result = match self.reader.integer()? {
            (false, value) => visitor.visit_u64(value),
            (true, value) => visitor.visit_i64(0_i64.wrapping_sub_unsigned(value)),
        };
        self.locate(result)
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let result = match self.reader.any_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Signed(value) => visitor.visit_i64(value),
            Number::Float(value) => visitor.visit_f64(value),
        };
        self.locate(result)
    }

    fn visit_i128<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let value = self.reader.long_signed()?;
        self.locate(visitor.visit_i128(value))
    }

    fn visit_u128<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let value = self.reader.long_unsigned()?;
        self.locate(visitor.visit_u128(value))
    }

    fn visit_array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let mut access = Access::enter(self, Kind::Array)?;
        let result = visitor.visit_seq(&mut access);
        let value = access.de.locate(result)?;
        access.leave()?;
        Ok(value)
    }

    fn visit_object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let mut access = Access::enter(self, Kind::Object)?;
        let result = visitor.visit_map(&mut access);
        let value = access.de.locate(result)?;
        access.leave()?;
        Ok(value)
    }
}

macro_rules! same {
    ($($using:ident: $($method:ident)*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$using(visitor)
        }
    )*)*};
}

impl<'de> serde::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = Error;

    same! {
        visit_integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        visit_i128: deserialize_i128;
        visit_u128: deserialize_u128;
        visit_number: deserialize_f64;
        visit_text: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        visit_array: deserialize_seq;
        visit_object: deserialize_map;
        deserialize_bytes: deserialize_byte_buf;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.peek_kind()? {
            Kind::Null => self.deserialize_unit(visitor),
            Kind::Bool => self.deserialize_bool(visitor),
            Kind::Number => self.visit_number(visitor),
            Kind::String => self.visit_text(visitor),
            Kind::Array => self.visit_array(visitor),
            Kind::Object => self.visit_object(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.reader.boolean()?;
        self.locate(visitor.visit_bool(value))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.reader.single_float()?;
        self.locate(visitor.visit_f32(value))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.reader.peek_kind()? == Kind::Array {
            return self.visit_array(visitor);
        }
        let result = match self.reader.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
        };
        self.locate(result)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.reader.peek_kind()? == Kind::Null {
            self.reader.null()?;
            let result = visitor.visit_none();
            return self.locate(result);
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.reader.null()?;
        self.locate(visitor.visit_unit())
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    #[expect(
        clippy::inline_always,
        reason = "the comparison of two constants must not be left in the program"
    )]
    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == TOKEN {
            let text = self.reader.skip()?;
            return self.locate(visitor.visit_newtype_struct(Verbatim(text)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.visit_array(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit_array(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.visit_object(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.reader.peek_kind()? {
            Kind::String => {
                let result = visitor.visit_enum(Variant {
                    de: &mut *self,
                    tagged: false,
                });
                self.locate(result)
            }
            Kind::Object => {
                let mut access = Access::enter(self, Kind::Object)?;
                access.first_key()?;
                let result = visitor.visit_enum(Variant {
                    de: &mut *access.de,
                    tagged: true,
                });
                let value = access.de.locate(result)?;
                access.leave()?;
                Ok(value)
            }
            _ => Err(Error::wrong_type(
                &["a string", "an object"],
                self.reader.value(),
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.reader.skip_leniently()?;
        self.locate(visitor.visit_unit())
    }
}
