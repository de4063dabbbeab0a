//! The JSON Schema of enums that are defined in other crates.

use std::fmt;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, StdError, Visitor},
    forward_to_deserialize_any,
};

/// The schema of an enum without fields: the names that its `Deserialize` accepts.
pub(super) fn schema<'de, T: Deserialize<'de>>(_: &mut SchemaGenerator) -> Schema {
    let names = match T::deserialize(EnumNames) {
        Err(Found(names)) => names,
        Ok(_) => &[],
    };
    json_schema!({ "type": "string", "enum": names })
}

/// A deserializer without a value. Its error has the names of the variants.
struct EnumNames;

#[derive(Debug)]
struct Found(&'static [&'static str]);

impl<'de> Deserializer<'de> for EnumNames {
    type Error = Found;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Found> {
        Err(Found(&[]))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Found> {
        Err(Found(names))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {:?}", self.0)
    }
}

impl StdError for Found {}

impl Error for Found {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_those_of_the_enum() {
        let schema = schema::<mcp_servlet_host::OnFailure>(&mut SchemaGenerator::default());
        let expected = serde_json::json!({ "type": "string", "enum": ["skip", "fail", "cached"] });
        assert_eq!(schema.to_value(), expected);
    }
}
