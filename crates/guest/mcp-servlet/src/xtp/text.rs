//! The encodings without JSON: text and raw bytes.

use std::borrow::Cow;

use mcp_servlet_json::{
    write_i64, write_plain_f32, write_plain_f64, write_raw, write_string, write_u64,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::StrDeserializer;

use super::bytes::Bytes;
use super::encoding::{Decode, Encode, LittleEndian, TextPlain, XBinary};

/// An enum of the schema: as text it is serde's name of the variant.
pub trait Word: Serialize + DeserializeOwned {}

/// The number of bytes of a text that a message shows.
const MAX_SHOWN_BYTES: usize = 40;

#[cold]
#[inline(never)]
fn unexpected(expected: &str, payload: &[u8]) -> String {
    let mut reason = String::from("expected ");
    write_raw(&mut reason, expected);
    write_raw(&mut reason, ", got ");
    let shown = payload.get(..MAX_SHOWN_BYTES).unwrap_or(payload);
    match String::from_utf8_lossy(shown) {
        text if text.is_empty() => write_raw(&mut reason, "nothing"),
        text => write_string(&mut reason, &text),
    }
    reason
}

fn text(payload: Vec<u8>) -> Result<String, String> {
    String::from_utf8(payload).map_err(|error| {
        let mut reason = String::from("invalid UTF-8 at offset ");
        write_u64(&mut reason, error.utf8_error().valid_up_to() as u64);
        reason
    })
}

/// Strings and buffers are written unchanged in every encoding except JSON.
macro_rules! plain {
    ($($encoding:ident)*) => {$(
        impl Decode<$encoding> for String {
            fn decode(payload: Vec<u8>) -> Result<Self, String> {
                text(payload)
            }
        }

        impl Encode<$encoding> for String {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                Ok(Cow::Borrowed(self.as_bytes()))
            }
        }

        impl Encode<$encoding> for str {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                Ok(Cow::Borrowed(self.as_bytes()))
            }
        }

        impl Decode<$encoding> for Bytes {
            fn decode(payload: Vec<u8>) -> Result<Self, String> {
                Ok(Self(payload))
            }
        }

        impl Encode<$encoding> for Bytes {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                Ok(Cow::Borrowed(self))
            }
        }

        impl<T: Decode<$encoding>> Decode<$encoding> for Option<T> {
            fn decode(payload: Vec<u8>) -> Result<Self, String> {
                if payload.is_empty() {
                    return Ok(None);
                }
                T::decode(payload).map(Some)
            }
        }

        impl<T: Encode<$encoding>> Encode<$encoding> for Option<T> {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                self.as_ref().map_or(Ok(Cow::Borrowed(&[])), T::encode)
            }
        }
    )*};
}

plain! { TextPlain LittleEndian XBinary }

macro_rules! word {
    ($($encoding:ident)*) => {$(
        impl<T: Word> Decode<$encoding> for T {
            fn decode(payload: Vec<u8>) -> Result<Self, String> {
                let deserializer = StrDeserializer::<mcp_servlet_json::Error>::new;
                let word = text(payload)?;
                let value = T::deserialize(deserializer(&word));
                value.map_err(|error| unexpected(&names(&error), word.as_bytes()))
            }
        }

        impl<T: Word> Encode<$encoding> for T {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                let json = mcp_servlet_json::to_string(self);
                let word = json.and_then(|json| mcp_servlet_json::from_str::<String>(&json));
                match word {
                    Ok(word) => Ok(Cow::Owned(word.into_bytes())),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    )*};
}

word! { TextPlain LittleEndian }

/// The valid names.
fn names(error: &mcp_servlet_json::Error) -> String {
    let mut names = String::new();
    for (at, name) in error.expected().iter().enumerate() {
        write_raw(&mut names, if at == 0 { "`" } else { " or `" });
        write_raw(&mut names, name);
        write_raw(&mut names, "`");
    }
    names
}

impl Decode<TextPlain> for bool {
    fn decode(payload: Vec<u8>) -> Result<Self, String> {
        match &*payload {
            b"true" => Ok(true),
            b"false" => Ok(false),
            other => Err(unexpected("`true` or `false`", other)),
        }
    }
}

impl Encode<TextPlain> for bool {
    fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
        let text = if *self { "true" } else { "false" };
        Ok(Cow::Borrowed(text.as_bytes()))
    }
}

impl Decode<LittleEndian> for bool {
    fn decode(payload: Vec<u8>) -> Result<Self, String> {
        match *payload {
            [0] => Ok(false),
            [1] => Ok(true),
            ref other => Err(unexpected("a byte that is 0 or 1", other)),
        }
    }
}

impl Encode<LittleEndian> for bool {
    fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
        Ok(Cow::Owned(vec![u8::from(*self)]))
    }
}

/// Numbers, with their decimal form and their names.
macro_rules! numbers {
    ($($number:ident $article:literal $write:expr;)*) => {$(
        impl Decode<TextPlain> for $number {
            fn decode(payload: Vec<u8>) -> Result<Self, String> {
                let text = std::str::from_utf8(&payload).unwrap_or_default();
                let number = text.parse::<$number>().ok();
                #[allow(clippy::redundant_closure_for_method_calls, reason = "the closure fits all types")]
                let number = number.filter(|number| number.finite());
                let expected = concat!("a decimal number that fits ", $article, " `", stringify!($number), "`");
                number.ok_or_else(|| unexpected(expected, &payload))
            }
        }

        impl Encode<TextPlain> for $number {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                if !self.finite() {
                    return Err(String::from("a number that is infinite or NaN has no decimal text"));
                }
                let mut text = String::new();
                let write: fn(&mut String, $number) = $write;
                write(&mut text, *self);
                Ok(Cow::Owned(text.into_bytes()))
            }
        }

        impl Decode<LittleEndian> for $number {
            fn decode(payload: Vec<u8>) -> Result<Self, String> {
                let bytes = <[u8; size_of::<$number>()]>::try_from(&*payload);
                let expected = concat!("the little-endian bytes of ", $article, " `", stringify!($number), "`");
                bytes.map(Self::from_le_bytes).map_err(|_| unexpected(expected, &payload))
            }
        }

        impl Encode<LittleEndian> for $number {
            fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
                Ok(Cow::Owned(self.to_le_bytes().to_vec()))
            }
        }
    )*};
}

numbers! {
    i8 "an" |out, number| write_i64(out, number.into());
    i16 "an" |out, number| write_i64(out, number.into());
    i32 "an" |out, number| write_i64(out, number.into());
    i64 "an" write_i64;
    u8 "a" |out, number| write_u64(out, number.into());
    u16 "a" |out, number| write_u64(out, number.into());
    u32 "a" |out, number| write_u64(out, number.into());
    u64 "a" write_u64;
    f32 "an" write_plain_f32;
    f64 "an" write_plain_f64;
}

/// Whether a number is finite.
trait Finite {
    fn finite(&self) -> bool;
}

macro_rules! finite {
    ($($number:ident: $finite:expr;)*) => {$(
        impl Finite for $number {
            fn finite(&self) -> bool {
                let finite: fn($number) -> bool = $finite;
                finite(*self)
            }
        }
    )*};
}

finite! {
    i8: |_| true; i16: |_| true; i32: |_| true; i64: |_| true;
    u8: |_| true; u16: |_| true; u32: |_| true; u64: |_| true;
    f32: f32::is_finite; f64: f64::is_finite;
}
