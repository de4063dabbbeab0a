//! Serializes a JSON text as the values in it, for serializers of other crates.

use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::reader::{Kind, Number, Reader};
use crate::token::TEXT;

/// The inside of a `RawJson`: its text for a format that is not human-readable, otherwise its values.
pub(super) struct Inner<'a>(pub(super) Node<'a>);

/// A valid JSON text, which serializes as its values.
pub(super) struct Node<'a>(pub(super) &'a str);

impl Serialize for Inner<'_> {
    #[expect(
        clippy::inline_always,
        reason = "our serializer must link one of the branches only"
    )]
    #[inline(always)]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            self.0.serialize(serializer)
        } else {
            serializer.serialize_newtype_struct(TEXT, self.0.0)
        }
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut reader = Reader::from(self.0);
        match reader.peek_kind().map_err(S::Error::custom)? {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool => serializer.serialize_bool(reader.boolean().map_err(S::Error::custom)?),
            Kind::Number => match reader.any_number().map_err(S::Error::custom)? {
                Number::Unsigned(value) => serializer.serialize_u64(value),
                Number::Signed(value) => serializer.serialize_i64(value),
                Number::Float(value) => serializer.serialize_f64(value),
            },
            Kind::String => serializer.serialize_str(&reader.string().map_err(S::Error::custom)?),
            Kind::Array => {
                let mut seq = serializer.serialize_seq(None)?;
                reader.begin_array().map_err(S::Error::custom)?;
                while let Some(element) = next_element(&mut reader).map_err(S::Error::custom)? {
                    seq.serialize_element(&element)?;
                }
                seq.end()
            }
            Kind::Object => {
                let mut map = serializer.serialize_map(None)?;
                reader.begin_object().map_err(S::Error::custom)?;
                while let Some(key) = reader.next_key().map_err(S::Error::custom)? {
                    map.serialize_entry(&key, &Node(reader.skip().map_err(S::Error::custom)?))?;
                }
                map.end()
            }
        }
    }
}

fn next_element<'a>(reader: &mut Reader<'a>) -> Result<Option<Node<'a>>, Error> {
    if reader.next_element()? {
        reader.skip().map(|text| Some(Node(text)))
    } else {
        Ok(None)
    }
}
