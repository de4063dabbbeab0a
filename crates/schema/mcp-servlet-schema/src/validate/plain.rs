//! Schemas whose shape alone shows that they are valid, so that they need not be compiled to find mistakes in them.
//!
//! Most schemas of tools are of this kind. Compiling takes a tenth of a millisecond, and the first time a millisecond,
//! because the validator of schemas is compiled as well.

use serde_json::{Map, Value};

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Whether a schema only has keywords that are known here, with valid values, and extensions (`x-…`). The depth of the schema
/// must have been checked before.
pub(super) fn is_plain(schema: &Value) -> bool {
    let keywords = schema.as_object();
    keywords.is_some_and(|keywords| keywords.iter().all(|(name, value)| fits(name, value)))
}

fn fits(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => value.as_str().is_some_and(|name| TYPES.contains(&name)),
        "title" | "description" | "$comment" => value.is_string(),
        "default" | "const" => true,
        "examples" => value.is_array(),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "properties" => value.as_object().is_some_and(are_plain),
        "required" => value
            .as_array()
            .is_some_and(|names| are_distinct_strings(names)),
        "items" => is_plain(value),
        "additionalProperties" => value.is_boolean() || is_plain(value),
        "anyOf" | "oneOf" => {
            let schemas = value.as_array();
            schemas.is_some_and(|schemas| !schemas.is_empty() && schemas.iter().all(is_plain))
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.is_u64()
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        // An extension. Validators ignore it.
        _ => keyword.starts_with("x-"),
    }
}

fn are_plain(schemas: &Map<String, Value>) -> bool {
    schemas.values().all(is_plain)
}

fn are_distinct_strings(names: &[Value]) -> bool {
    let is_new = |(at, name): (usize, &Value)| name.is_string() && !names[..at].contains(name);
    names.iter().enumerate().all(is_new)
}
