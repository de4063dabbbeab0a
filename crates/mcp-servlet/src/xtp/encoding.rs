//! How values become payloads: one type for each content type of XTP.
//!
//! | | [`ApplicationJson`] | [`TextPlain`] | [`XBinary`] |
//! |---|---|---|---|
//! | declared as | `application/json` | `text/plain; charset=utf-8` | `application/x-binary` |
//! | string | a JSON string | the text | the text |
//! | buffer, [`Bytes`](super::Bytes) | a JSON string of base64 | the bytes | the bytes |
//! | number, boolean | JSON | decimal text, `true` or `false` | – |
//! | enum | a JSON string | the bare word | – |
//! | object, list, map, date | JSON | – | – |
//! | nullable | `null` | the empty text is `None` | the empty payload is `None` |
//!
//! A dash is a pair that does not compile, and that `xtp-codegen` reports before. The official Rust generator writes
//! numbers and booleans of `text/plain` as little-endian bytes: [`LittleEndian`] speaks to plugins made by it.

use std::borrow::Cow;

use mcp_servlet_json::{Error as JsonError, ErrorKind, describe, write_raw};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `application/json`.
#[derive(Debug)]
pub enum ApplicationJson {}

/// `text/plain; charset=utf-8`.
#[derive(Debug)]
pub enum TextPlain {}

/// `text/plain; charset=utf-8` as the official Rust generator has it: numbers and booleans are little-endian bytes.
#[derive(Debug)]
pub enum LittleEndian {}

/// `application/x-binary`.
#[derive(Debug)]
pub enum XBinary {}

/// A type that can be read from payloads of an encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a payload that is `{E}`",
    label = "this type has no such encoding",
    note = "`ApplicationJson` takes whatever serde reads; `TextPlain` takes strings, numbers, booleans, enums and `Bytes`; `XBinary` takes strings and `Bytes`",
    note = "change the schema's `contentType` to `application/json`"
)]
pub trait Decode<E>: Sized {
    /// Reads a payload.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    fn decode(payload: Vec<u8>) -> Result<Self, String>;
}

/// A type that can be written as payloads of an encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written as a payload that is `{E}`",
    label = "this type has no such encoding",
    note = "`ApplicationJson` takes whatever serde writes; `TextPlain` takes strings, numbers, booleans, enums and `Bytes`; `XBinary` takes strings and `Bytes`",
    note = "change the schema's `contentType` to `application/json`"
)]
pub trait Encode<E> {
    /// Writes the payload.
    ///
    /// # Errors
    ///
    /// If the value has no representation.
    fn encode(&self) -> Result<Cow<'_, [u8]>, String>;
}

impl<T: DeserializeOwned> Decode<ApplicationJson> for T {
    fn decode(payload: Vec<u8>) -> Result<Self, String> {
        mcp_servlet_json::from_slice(&payload).map_err(|error| misfit(&payload, &error))
    }
}

impl<T: Serialize + ?Sized> Encode<ApplicationJson> for T {
    fn encode(&self) -> Result<Cow<'_, [u8]>, String> {
        match mcp_servlet_json::to_string(self) {
            Ok(text) => Ok(Cow::Owned(text.into_bytes())),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// What is wrong with a JSON text: why, at which byte, in which value, and what that is.
#[cold]
#[inline(never)]
fn misfit(payload: &[u8], error: &JsonError) -> String {
    let mut reason = error.to_string();
    let Ok(text) = std::str::from_utf8(payload) else {
        return reason;
    };
    let pointer = error.pointer(text);
    if !pointer.is_empty() {
        write_raw(&mut reason, ", in `");
        write_raw(&mut reason, &pointer);
        write_raw(&mut reason, "`");
    }
    let is_about_a_value = matches!(
        error.kind(),
        ErrorKind::WrongType
            | ErrorKind::NumberOutOfRange
            | ErrorKind::InvalidValue
            | ErrorKind::Custom(_)
    );
    if let Some(value) = text.get(error.offset()..).filter(|_| is_about_a_value) {
        write_raw(&mut reason, ": got ");
        write_raw(&mut reason, &describe(value));
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::{ApplicationJson, Decode, Encode};
    use crate::xtp::Bytes;

    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    struct Item {
        name: String,
        price: Option<u8>,
    }

    fn read<T: Decode<ApplicationJson>>(text: &str) -> Result<T, String> {
        T::decode(text.into())
    }

    #[test]
    fn numbers_are_the_same_bytes_in_both_directions() {
        let number: i64 = read("42").unwrap();
        assert_eq!(&*Encode::<ApplicationJson>::encode(&number).unwrap(), b"42");
    }

    #[test]
    fn a_lone_buffer_is_base64() {
        let bytes: Bytes = read(r#""AAH/""#).unwrap();
        assert_eq!(*bytes, [0, 1, 255]);
        assert_eq!(
            &*Encode::<ApplicationJson>::encode(&bytes).unwrap(),
            br#""AAH/""#
        );
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        let reasons = [
            (
                read::<Vec<Item>>("").map(drop),
                "unexpected end of the text at offset 0",
            ),
            (
                read::<Vec<Item>>(r#"[{"name":"a","price":300}]"#).map(drop),
                "number out of range at offset 21, in `/0/price`: got the number 300",
            ),
            (
                read::<Vec<Item>>(r#"[{"name":"a"},{"price":1}]"#).map(drop),
                "missing field `name` at offset 14, in `/1`",
            ),
            (
                read::<Vec<Item>>(r#"[{"name":7}]"#).map(drop),
                "wrong type, expected a string at offset 9, in `/0/name`: got the number 7",
            ),
            (
                read::<Bytes>(r#""AAH""#).map(drop),
                r#"not base64 (standard alphabet, padded) at offset 0: got the string "AAH""#,
            ),
            (
                read::<i64>("4.5").map(drop),
                "wrong type, expected an integer at offset 0: got the number 4.5",
            ),
            (
                read::<i64>("9223372036854775808").map(drop),
                "number out of range at offset 0: got the number 9223372036854775808",
            ),
        ];
        for (found, expected) in reasons {
            assert_eq!(found.unwrap_err(), expected);
        }
        let broken = <String as Decode<ApplicationJson>>::decode(b"\"\xff\"".to_vec());
        assert_eq!(broken.unwrap_err(), "invalid UTF-8 at offset 1");
    }
}
