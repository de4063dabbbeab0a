//! The serializer: it appends to a string, and has one type for everything with elements.

mod compound;
mod key;
mod verbatim;

use std::fmt::{self, Display, Write};

use serde::Serialize;
use serde::ser;

use crate::error::Error;
use crate::float::{write_f32, write_f64};
use crate::token::TOKEN;
use crate::write::{write_escaped, write_i64, write_string, write_u64};
use compound::Compound;
use verbatim::Verbatim;

/// Serializes one value into a string.
///
/// ```
/// use serde::Serialize;
///
/// let mut out = String::from("id=");
/// [1, 2].serialize(mcp_servlet_json::Serializer::new(&mut out)).unwrap();
/// assert_eq!(out, "id=[1,2]");
/// ```
#[derive(Debug)]
pub struct Serializer<'a> {
    out: &'a mut String,
}

impl<'a> Serializer<'a> {
    /// A serializer that appends to `out`.
    pub fn new(out: &'a mut String) -> Self {
        Self { out }
    }

    fn open(self, bracket: &str, close: &'static str) -> Compound<'a> {
        self.out.push_str(bracket);
        Compound {
            out: self.out,
            close,
            first: true,
        }
    }

    fn open_variant(self, variant: &str, bracket: &str, close: &'static str) -> Compound<'a> {
        self.out.push('{');
        write_string(self.out, variant);
        self.out.push(':');
        self.open(bracket, close)
    }
}

macro_rules! write_integers {
    ($($method:ident $ty:ty => $write:ident,)*) => {$(
        fn $method(self, value: $ty) -> Result<(), Error> {
            $write(self.out, value.into());
            Ok(())
        }
    )*};
}

impl<'a> ser::Serializer for Serializer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    write_integers! {
        serialize_i8 i8 => write_i64,
        serialize_i16 i16 => write_i64,
        serialize_i32 i32 => write_i64,
        serialize_i64 i64 => write_i64,
        serialize_u8 u8 => write_u64,
        serialize_u16 u16 => write_u64,
        serialize_u32 u32 => write_u64,
        serialize_u64 u64 => write_u64,
        serialize_f32 f32 => write_f32,
        serialize_f64 f64 => write_f64,
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.out.push_str(&value.to_string());
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.out.push_str(&value.to_string());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        write_string(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
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
        if name == TOKEN {
            return value.serialize(Verbatim(self));
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let Compound { out, close, .. } = self.open_variant(variant, "", "}");
        value.serialize(Serializer::new(out))?;
        out.push_str(close);
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        Ok(self.open_variant(variant, "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.open("{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>, Error> {
        Ok(self.open_variant(variant, "{", "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.out.push('"');
        if write!(Escaped(self.out), "{value}").is_err() {
            return Err(Error::message(String::from(
                "a `Display` implementation failed",
            )));
        }
        self.out.push('"');
        Ok(())
    }
}

/// Escapes the text that is formatted into it.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write_escaped(self.0, text);
        Ok(())
    }
}
