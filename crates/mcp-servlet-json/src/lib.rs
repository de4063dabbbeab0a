//! Strict, small JSON for WebAssembly guests.
//!
//! TODO

#![forbid(unsafe_code)]

mod de;
mod describe;
mod error;
mod raw;
mod reader;
mod ser;
mod write;

use serde::{Deserialize, Serialize};

pub use de::Deserializer;
pub use describe::describe;
pub use error::{Error, ErrorKind};
pub use raw::RawJson;
pub use reader::{Kind, Reader};
pub use ser::Serializer;
pub use write::{write_i64, write_string, write_u64};

/// Reads a value from a text.
///
/// # Errors
/// If the text is not one valid JSON value, or the value is not a `T`.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    from_slice(text.as_bytes())
}

/// Reads a value from a text in bytes.
///
/// The strings that are read are checked to be UTF-8.
///
/// # Errors
/// If the text is not one valid JSON value, or the value is not a `T`.
pub fn from_slice<'de, T: Deserialize<'de>>(input: &'de [u8]) -> Result<T, Error> {
    let mut deserializer = Deserializer::from_slice(input);
    let value = deserializer.value()?;
    deserializer.finish()?;
    Ok(value)
}

/// Writes a value as a text.
///
/// # Errors
/// If the value has a map with a key that is no string, number, boolean or character, or its `Serialize`
/// implementation fails.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let mut out = String::new();
    to_writer(&mut out, value)?;
    Ok(out)
}

/// Appends a value to a text.
///
/// # Errors
/// As [`to_string`]; the text then holds a part of the value.
pub fn to_writer<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(Serializer::new(out))
}
