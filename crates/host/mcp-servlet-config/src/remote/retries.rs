//! How many attempts to connect follow the first one.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Unexpected, Visitor},
};

/// A number of attempts. None for `forever`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Most(pub(super) Option<u32>);

impl<'de> Deserialize<'de> for Most {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MostVisitor)
    }
}

struct MostVisitor;

impl Visitor<'_> for MostVisitor {
    type Value = Most;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 to 4294967295, or \"forever\"")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Most, E> {
        let most = u32::try_from(number);
        most.map(|most| Most(Some(most)))
            .map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Most, E> {
        match text {
            "forever" => Ok(Most(None)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

impl JsonSchema for Most {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Most".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": "forever" }] })
    }
}
