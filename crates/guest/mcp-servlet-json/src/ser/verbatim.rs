//! Passes the text of a [`RawJson`](crate::RawJson) unchanged to our serializer.
//!
//! A `RawJson` serializes as a newtype named [`TOKEN`](crate::token::TOKEN), and [`Verbatim`] receives its content.
//! `Verbatim` claims not to be human-readable, so that the `RawJson` names its text [`TEXT`]. Only content with that
//! name is written unquoted. Everything else is plain JSON: serde buffers some enums, and such a buffer contains the
//! values in the text.

use serde::Serialize;
use serde::ser::{self, Impossible};

use super::Serializer;
use super::compound::Compound;
use crate::error::Error;
use crate::token::TEXT;

/// Receives the inside of a `RawJson`.
pub(super) struct Verbatim<'a>(pub(super) Serializer<'a>);

macro_rules! forward {
    ($($method:ident ( $($arg:ident: $ty:ty),* ) -> $ok:ty,)*) => {$(
        fn $method(self, $($arg: $ty),*) -> Result<$ok, Error> {
            self.0.$method($($arg),*)
        }
    )*};
}

impl<'a> ser::Serializer for Verbatim<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    #[expect(
        clippy::inline_always,
        reason = "the transcoding in the other branch must not be linked"
    )]
    #[inline(always)]
    fn is_human_readable(&self) -> bool {
        false
    }

    #[expect(
        clippy::inline_always,
        reason = "the comparison of two constants must not be left in the program"
    )]
    #[inline(always)]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name == TEXT {
            return value.serialize(Unquoted(self.0.out));
        }
        value.serialize(self.0)
    }

    forward! {
        serialize_bool(value: bool) -> (),
        serialize_i8(value: i8) -> (),
        serialize_i16(value: i16) -> (),
        serialize_i32(value: i32) -> (),
        serialize_i64(value: i64) -> (),
        serialize_i128(value: i128) -> (),
        serialize_u8(value: u8) -> (),
        serialize_u16(value: u16) -> (),
        serialize_u32(value: u32) -> (),
        serialize_u64(value: u64) -> (),
        serialize_u128(value: u128) -> (),
        serialize_f32(value: f32) -> (),
        serialize_f64(value: f64) -> (),
        serialize_char(value: char) -> (),
        serialize_str(value: &str) -> (),
        serialize_bytes(value: &[u8]) -> (),
        serialize_none() -> (),
        serialize_unit() -> (),
        serialize_unit_struct(name: &'static str) -> (),
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> (),
        serialize_seq(len: Option<usize>) -> Compound<'a>,
        serialize_tuple(len: usize) -> Compound<'a>,
        serialize_tuple_struct(name: &'static str, len: usize) -> Compound<'a>,
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> Compound<'a>,
        serialize_map(len: Option<usize>) -> Compound<'a>,
        serialize_struct(name: &'static str, len: usize) -> Compound<'a>,
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> Compound<'a>,
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.0.serialize_some(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.0
            .serialize_newtype_variant(name, index, variant, value)
    }
}

/// Writes a text without quotes. It receives nothing but strings.
struct Unquoted<'a>(&'a mut String);

macro_rules! nothing_else {
    ($($method:ident ( $($arg:ty),* ) -> $ok:ty,)*) => {$(
        fn $method(self, $(_: $arg),*) -> Result<$ok, Error> {
            nothing_else()
        }
    )*};
}

#[cold]
fn nothing_else<T>() -> Result<T, Error> {
    Err(Error::message(String::from(
        "a raw JSON text must be a string",
    )))
}

impl ser::Serializer for Unquoted<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.0.push_str(value);
        Ok(())
    }

    nothing_else! {
        serialize_bool(bool) -> (),
        serialize_i8(i8) -> (),
        serialize_i16(i16) -> (),
        serialize_i32(i32) -> (),
        serialize_i64(i64) -> (),
        serialize_u8(u8) -> (),
        serialize_u16(u16) -> (),
        serialize_u32(u32) -> (),
        serialize_u64(u64) -> (),
        serialize_f32(f32) -> (),
        serialize_f64(f64) -> (),
        serialize_char(char) -> (),
        serialize_bytes(&[u8]) -> (),
        serialize_none() -> (),
        serialize_unit() -> (),
        serialize_unit_struct(&'static str) -> (),
        serialize_unit_variant(&'static str, u32, &'static str) -> (),
        serialize_seq(Option<usize>) -> Impossible<(), Error>,
        serialize_tuple(usize) -> Impossible<(), Error>,
        serialize_tuple_struct(&'static str, usize) -> Impossible<(), Error>,
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Impossible<(), Error>,
        serialize_map(Option<usize>) -> Impossible<(), Error>,
        serialize_struct(&'static str, usize) -> Impossible<(), Error>,
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Impossible<(), Error>,
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Error> {
        nothing_else()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        nothing_else()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        nothing_else()
    }
}
