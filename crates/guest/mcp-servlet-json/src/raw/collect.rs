//! Collects the values of other crates' deserializers as JSON text.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::RawJson;
use crate::float::write_f64;
use crate::reader::MAX_DEPTH;
use crate::token::TEXT;
use crate::write::{write_i64, write_string, write_u64};

/// Appends one value to a text.
pub(super) struct Collect<'a> {
    out: &'a mut String,
    depth: u8,
}

impl<'a> Collect<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        Self {
            out,
            depth: MAX_DEPTH,
        }
    }

    /// The collector for the elements of an array or an object.
    fn inner<E: Error>(&mut self) -> Result<Collect<'_>, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Collect {
                out: self.out,
                depth,
            }),
            None => Err(E::custom("nested too deeply")),
        }
    }
}

macro_rules! write_scalars {
    ($($method:ident($ty:ty): |$out:ident, $value:ident| $write:expr;)*) => {$(
        fn $method<E: Error>(self, $value: $ty) -> Result<(), E> {
            let $out = self.out;
            $write;
            Ok(())
        }
    )*};
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    write_scalars! {
        visit_bool(bool): |out, value| out.push_str(if value { "true" } else { "false" });
        visit_i64(i64): |out, value| write_i64(out, value);
        visit_i128(i128): |out, value| out.push_str(&value.to_string());
        visit_u64(u64): |out, value| write_u64(out, value);
        visit_u128(u128): |out, value| out.push_str(&value.to_string());
        visit_f64(f64): |out, value| write_f64(out, value);
        visit_str(&str): |out, value| write_string(out, value);
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<(), E> {
        let mut bracket = '[';
        for &byte in bytes {
            self.out.push(bracket);
            write_u64(self.out, byte.into());
            bracket = ',';
        }
        self.out.push_str(if bytes.is_empty() { "[]" } else { "]" });
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.out.push_str("null");
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    #[expect(
        clippy::inline_always,
        reason = "our deserializer must link one of the branches only"
    )]
    #[inline(always)]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(self)
        } else {
            deserializer.deserialize_newtype_struct(TEXT, Text(self.out))
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        self.out.push('[');
        let mut inner = self.inner()?;
        let empty = inner.out.len();
        loop {
            let end = inner.out.len();
            if end > empty {
                inner.out.push(',');
            }
            if elements.next_element_seed(inner.reborrow())?.is_none() {
                inner.out.truncate(end);
                inner.out.push(']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        self.out.push('{');
        let mut inner = self.inner()?;
        let empty = inner.out.len();
        loop {
            let end = inner.out.len();
            if end > empty {
                inner.out.push(',');
            }
            let start = inner.out.len();
            if members.next_key_seed(inner.reborrow())?.is_none() {
                inner.out.truncate(end);
                inner.out.push('}');
                return Ok(());
            }
            quote(inner.out, start)?;
            inner.out.push(':');
            members.next_value_seed(inner.reborrow())?;
        }
    }
}

impl Collect<'_> {
    fn reborrow(&mut self) -> Collect<'_> {
        Collect {
            out: self.out,
            depth: self.depth,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Quotes the key that was appended at `start` if it is a number or a boolean.
fn quote<E: Error>(out: &mut String, start: usize) -> Result<(), E> {
    match out.as_bytes().get(start) {
        Some(b'"') => Ok(()),
        Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
            out.insert(start, '"');
            out.push('"');
            Ok(())
        }
        _ => Err(E::custom("a key must be a string")),
    }
}

/// Appends JSON text: from our own deserializer, or from a string that still has to be checked.
struct Text<'a>(&'a mut String);

impl<'de> Visitor<'de> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string with a JSON text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let text = String::deserialize(deserializer)?;
        *self.0 = RawJson::from_string(text)
            .map_err(D::Error::custom)?
            .into_string();
        Ok(())
    }
}
