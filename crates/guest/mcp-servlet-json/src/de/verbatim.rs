//! Passes JSON text unchanged from our deserializer to a [`RawJson`](crate::RawJson).

use serde::de::Visitor;
use serde::forward_to_deserialize_any;

use crate::error::Error;

/// Deserializes the inside of a `RawJson`: a checked JSON text.
///
/// It claims not to be human-readable, so that `RawJson` asks for the text instead of the values in it.
pub(super) struct Verbatim<'de>(pub(super) &'de str);

impl<'de> serde::Deserializer<'de> for Verbatim<'de> {
    type Error = Error;

    #[expect(
        clippy::inline_always,
        reason = "the collecting in the other branch must not be linked"
    )]
    #[inline(always)]
    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
