//! A schema in words, on one line.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema_type;
use crate::JsonObject;

/// The maximum depth of items of items.
const MAX_DEPTH: usize = 4;

/// What a schema in `root` accepts: `integer from 0 to 255`, `array of string, 1 to 3 items`.
pub fn schema_in_words(root: &JsonObject, schema: &Value) -> String {
    words(root, schema, MAX_DEPTH)
}

fn words(root: &JsonObject, schema: &Value, depth: usize) -> String {
    let mut words = schema_type(root, schema).to_string();
    if depth > 0 && words.starts_with("array") && schema["items"].is_object() {
        let items = in_parentheses(self::words(root, &schema["items"], depth - 1));
        words = words.replacen("array", &format!("array of {items}"), 1);
    }
    let values = &schema["additionalProperties"];
    if depth > 0 && words.starts_with("object") && values.is_object() {
        let values = in_parentheses(self::words(root, values, depth - 1));
        words = words.replacen("object", &format!("object with values of {values}"), 1);
    }
    if let Some(format) = schema["format"].as_str() {
        let _ = write!(words, " ({format})");
    }
    words += &range(schema, "minimum", "maximum", "");
    for (key, word) in [("exclusiveMinimum", "above"), ("exclusiveMaximum", "below")] {
        if let Some(bound) = schema.get(key).filter(|bound| bound.is_number()) {
            let _ = write!(words, " {word} {bound}");
        }
    }
    words += &range(schema, "minLength", "maxLength", " characters");
    let items = range(schema, "minItems", "maxItems", " items");
    if !items.is_empty() {
        let _ = write!(words, ",{items}");
    }
    if let Some(number) = schema.get("multipleOf").filter(|number| number.is_number()) {
        let _ = write!(words, ", a multiple of {number}");
    }
    if schema["uniqueItems"] == true {
        words += ", each once";
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        let _ = write!(words, " matching `{pattern}`");
    }
    words
}

/// Alternatives in parentheses, so that those of items do not look like those of the array.
fn in_parentheses(words: String) -> String {
    if words.contains(" or ") {
        format!("({words})")
    } else {
        words
    }
}

/// ` from 0 to 255`, ` of at least 1 characters`.
fn range(schema: &Value, least: &str, most: &str, unit: &str) -> String {
    let bound = |key| schema.get(key).filter(|bound| bound.is_number());
    match (bound(least), bound(most)) {
        (Some(least), Some(most)) if least == most => format!(" of exactly {least}{unit}"),
        (Some(least), Some(most)) => format!(" from {least} to {most}{unit}"),
        (Some(least), None) => format!(" of at least {least}{unit}"),
        (None, Some(most)) => format!(" of at most {most}{unit}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_come_with_their_bounds() {
        for (schema, expected) in [
            (
                json!({ "type": "integer", "minimum": 0, "maximum": 255 }),
                "integer from 0 to 255",
            ),
            (
                json!({ "type": "number", "exclusiveMinimum": 0.5 }),
                "number above 0.5",
            ),
            (
                json!({ "type": "integer", "minimum": 2, "multipleOf": 2 }),
                "integer of at least 2, a multiple of 2",
            ),
            (
                json!({ "type": "string", "format": "date" }),
                "string (date)",
            ),
            (
                json!({ "type": "string", "maxLength": 5, "pattern": "^a" }),
                "string of at most 5 characters matching `^a`",
            ),
            (
                json!({ "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 2, "maxItems": 2, "uniqueItems": true }),
                "array of integer of at least 1, of exactly 2 items, each once",
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "string" } }),
                "object with values of string",
            ),
            (
                json!({ "type": ["array", "null"], "items": { "type": "array", "items": { "type": ["boolean", "null"] } } }),
                "array of (array of (boolean or null)) or null",
            ),
            (
                json!({ "type": "object", "additionalProperties": { "enum": ["a", "b"] } }),
                "object with values of (a or b)",
            ),
        ] {
            assert_eq!(
                schema_in_words(&JsonObject::new(), &schema),
                expected,
                "{schema}"
            );
        }
    }
}
