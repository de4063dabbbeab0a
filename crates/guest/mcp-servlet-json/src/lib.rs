//! Strict, small JSON for WebAssembly guests.
//!
//! A host loads a guest, compiles it and keeps it in memory, so every kilobyte counts. This crate reads and writes JSON
//! for serde with the behaviour of `serde_json` and a fraction of its code:
//!
//! - [`from_str`], [`from_slice`], [`to_string`] and [`to_writer`] for types that derive serde's traits;
//! - [`Reader`], [`write_string`] and similar functions for code that knows its JSON and needs no types;
//! - [`RawJson`] for values that are passed on unchanged, and [`RawObject`] for objects;
//! - [`Error`] with the offset of the innermost wrong value, and [`describe()`], which describes the value there.
//!
//! ```
//! #[derive(serde::Deserialize, serde::Serialize)]
//! struct Greeting {
//!     name: String,
//!     times: Option<u8>,
//! }
//!
//! let greeting: Greeting = mcp_servlet_json::from_str(r#"{"name": "Jo", "times": 2}"#).unwrap();
//! assert_eq!(greeting.times, Some(2));
//! assert_eq!(mcp_servlet_json::to_string(&greeting).unwrap(), r#"{"name":"Jo","times":2}"#);
//!
//! let text = r#"{"name": 7}"#;
//! let error = mcp_servlet_json::from_str::<Greeting>(text).map(drop).unwrap_err();
//! assert_eq!(error.pointer(text), "/name");
//! assert_eq!(mcp_servlet_json::describe(&text[error.offset()..]), "the number 7");
//! ```
//!
//! # Accepted JSON
//!
//! The crate reads JSON as defined in RFC 8259: no comments, no trailing commas, no leading zeros, no byte order mark.
//! Arrays and objects may be nested 127 levels deep. Integers are exact or an error. As in JSON Schema, `12.0` and
//! `1.2e1` are integers, except as keys of maps, which are strings. A value that the type ignores is checked only for
//! its grammar, as in `serde_json`; [`Reader::skip`] and [`RawJson`] check all of it. The type decides about
//! duplicate keys: derived structs reject them, maps keep the last one.
//!
//! # Binary size
//!
//! Size of a `cdylib` for `wasm32-unknown-unknown` (`opt-level = "z"`, fat LTO, `panic = "abort"`, stripped). The
//! allocator and the panic handler, which any guest with a `String` has, are 13.9 KB of it:
//!
//! | guest | size |
//! |---|---:|
//! | copies its input to a `String` | 13.9 KB |
//! | reads three fields with a [`Reader`], writes strings and numbers | 22.0 KB |
//! | the same with a derived struct and [`from_slice`] | 24.5 KB |
//! | the same with `serde_json` | 58.6 KB |
//! | … and two more structs | + 4.6 KB |
//! | … and an enum | + 3.0 KB |
//! | … and a struct with a [`RawJson`], read and written | + 2.4 KB |
//! | … and an error as text, with its pointer | + 2.7 KB |
//! | … and a float read | + 4.6 KB |
//! | … and a float written | + 4.0 KB |
//!
//! The crate has its own exact code for floats, because the code in Rust's `core` takes 20 KB for each direction. It is
//! linked if a float is read or written, or if a type uses `deserialize_any`, as `#[serde(untagged)]`,
//! `#[serde(flatten)]` and internally tagged enums do.
//!
//! # Differences from `serde_json`
//!
//! | here | `serde_json` | why |
//! |---|---|---|
//! | A struct, or the content of a struct variant, is an object. | It may be an array of the fields. | Schemas say object, and reading both costs a kilobyte more for each struct. |
//! | Bytes come from an array or from a valid string. | The string may contain lone surrogates and invalid UTF-8. | Whether a string is valid does not depend on the type that reads it. |
//! | A visitor that asks for an integer (`deserialize_u64`, …) gets an integer or an error. | It may get a float. | Integers must not link floats. |
//! | `12.0` and `1.2e1` are integers, for typed targets and for `deserialize_any`. | They are floats. | JSON Schema knows one kind of number, and clients send `12.0` for 12. |
//! | Floats below 10⁻⁴ and from 10¹⁶ are written like `5e-5` and `1e21`. | Like `0.00005` and `1e+21`. | Rust formats them this way. |
//! | A number is read as the nearest float; a number too large for an `f32` is an error. | Only with its feature `float_roundtrip`. | A written float is read back as the same float. |
//! | An error has its kind, its offset and the known names. | It also has the value found and what the visitor expects. | Formatting them takes more code than this crate; [`describe()`] and a schema say the same. |

#![forbid(unsafe_code)]

mod bytes;
mod de;
mod describe;
mod error;
mod float;
mod locate;
mod object;
mod raw;
mod reader;
mod ser;
mod token;
mod write;

use serde::{Deserialize, Serialize};

pub use de::Deserializer;
pub use describe::describe;
pub use error::{Error, ErrorKind};
pub use float::{write_f32, write_f64, write_plain_f32, write_plain_f64};
pub use object::ObjectWriter;
pub use raw::RawJson;
pub use raw::object::RawObject;
pub use reader::{Kind, Reader};
pub use ser::Serializer;
pub use write::{write_i64, write_pointer_step, write_raw, write_string, write_u64};

/// Deserializes a value from a string.
///
/// # Errors
/// If the text is not one valid JSON value, or the value is not a `T`.
pub fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    read(Deserializer::from(text))
}

/// Deserializes a value from bytes.
///
/// Strings are checked for valid UTF-8 when they are read.
///
/// # Errors
/// If the text is not one valid JSON value, or the value is not a `T`.
pub fn from_slice<'de, T: Deserialize<'de>>(input: &'de [u8]) -> Result<T, Error> {
    read(Deserializer::from_slice(input))
}

/// Reads a value and checks that nothing follows it.
fn read<'de, T: Deserialize<'de>>(mut deserializer: Deserializer<'de>) -> Result<T, Error> {
    let value = deserializer.value()?;
    deserializer.reader().finish()?;
    Ok(value)
}

/// Serializes a value to a string.
///
/// # Errors
/// If a map in the value has a key other than a string, number, boolean or character, or its `Serialize`
/// implementation fails.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let mut out = String::new();
    to_writer(&mut out, value)?;
    Ok(out)
}

/// Serializes a value and appends it to a string.
///
/// # Errors
/// As for [`to_string`]; `out` then ends with an incomplete value.
pub fn to_writer<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<(), Error> {
    value.serialize(Serializer::new(out))
}
