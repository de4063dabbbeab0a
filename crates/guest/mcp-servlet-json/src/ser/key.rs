//! The keys of maps: JSON has only strings there, so numbers and booleans get quotes.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Impossible};

use super::Serializer;
use crate::error::Error;

/// Serializes a key, with its quotes.
pub(super) struct KeySerializer<'a>(pub(super) &'a mut String);

impl KeySerializer<'_> {
    fn quoted<T: Serialize>(self, value: T) -> Result<(), Error> {
        self.0.push('"');
        value.serialize(Serializer::new(self.0))?;
        self.0.push('"');
        Ok(())
    }

    fn float<T: Serialize>(self, value: T, finite: bool) -> Result<(), Error> {
        if finite {
            self.quoted(value)
        } else {
            Err(Error::message(String::from("a float key must be finite")))
        }
    }
}

#[cold]
fn no_key<T>() -> Result<T, Error> {
    Err(Error::message(String::from("a key must be a string")))
}

macro_rules! quoted {
    ($($method:ident $ty:ty,)*) => {$(
        fn $method(self, value: $ty) -> Result<(), Error> {
            self.quoted(value)
        }
    )*};
}

macro_rules! no_key {
    ($($method:ident ( $($arg:ty),* ) -> $ok:ty,)*) => {$(
        fn $method(self, $(_: $arg),*) -> Result<$ok, Error> {
            no_key()
        }
    )*};
}

impl ser::Serializer for KeySerializer<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    quoted! {
        serialize_bool bool,
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_i128 i128,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_u128 u128,
    }

    no_key! {
        serialize_bytes(&[u8]) -> (),
        serialize_none() -> (),
        serialize_unit() -> (),
        serialize_unit_struct(&'static str) -> (),
        serialize_seq(Option<usize>) -> Impossible<(), Error>,
        serialize_tuple(usize) -> Impossible<(), Error>,
        serialize_tuple_struct(&'static str, usize) -> Impossible<(), Error>,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Impossible<(), Error>,
        serialize_map(Option<usize>) -> Impossible<(), Error>,
        serialize_struct(&'static str, usize) -> Impossible<(), Error>,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Impossible<(), Error>,
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        Serializer::new(self.0).serialize_char(value)
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        Serializer::new(self.0).serialize_str(value)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        no_key()
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        Serializer::new(self.0).collect_str(value)
    }
}
