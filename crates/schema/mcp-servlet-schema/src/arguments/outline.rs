//! A schema as a flat list of fields, for people.

use serde_json::Value;

use super::{expected::resolve, schema_in_words};
use crate::JsonObject;

/// The maximum depth of nested fields.
const MAX_DEPTH: usize = 6;

/// The maximum number of fields: references can turn a small schema into a large tree.
const MAX_FIELDS: usize = 500;

/// A field of an object, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaField {
    /// The path of the field: `price.from`, `items[].name`.
    pub path: String,
    /// The type and its bounds in words.
    pub type_in_words: String,
    /// Whether the object requires it.
    pub required: bool,
    /// The schema of the field.
    pub schema: Value,
}

/// The fields of a schema, each followed by its own fields.
pub fn schema_fields(root: &JsonObject) -> Vec<SchemaField> {
    let mut fields = Vec::new();
    collect(
        root,
        &Value::Object(root.clone()),
        "",
        MAX_DEPTH,
        &mut fields,
    );
    fields
}

fn collect(
    root: &JsonObject,
    schema: &Value,
    path: &str,
    depth: usize,
    fields: &mut Vec<SchemaField>,
) {
    if depth == 0 {
        return;
    }
    let schema = resolve(root, schema);
    let required = schema["required"].as_array();
    let properties = schema["properties"].as_object();
    for (name, property) in properties.into_iter().flatten() {
        if fields.len() >= MAX_FIELDS {
            return;
        }
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        fields.push(SchemaField {
            path: path.clone(),
            type_in_words: schema_in_words(root, property),
            required: required.is_some_and(|all| all.iter().any(|one| one == name)),
            schema: property.clone(),
        });
        collect(root, property, &path, depth - 1, fields);
    }
    if schema["items"].is_object() {
        collect(
            root,
            &schema["items"],
            &format!("{path}[]"),
            depth - 1,
            fields,
        );
    }
    if schema["additionalProperties"].is_object() {
        let values = &schema["additionalProperties"];
        collect(root, values, &format!("{path}.*"), depth - 1, fields);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let branches = schema[keyword].as_array();
        for (at, branch) in branches.into_iter().flatten().enumerate() {
            let path = match keyword {
                "allOf" => path.to_owned(),
                _ => format!("{path}({})", at + 1),
            };
            collect(root, branch, &path, depth - 1, fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(schema: &Value) -> Vec<String> {
        let fields = schema_fields(schema.as_object().expect("an object"));
        let line = |field: SchemaField| {
            format!("{} {} {}", field.path, field.type_in_words, field.required)
        };
        fields.into_iter().map(line).collect()
    }

    #[test]
    fn fields_are_listed_at_every_depth() {
        let schema = json!({
            "type": "object",
            "properties": {
                "price": { "$ref": "#/$defs/Range" },
                "lines": { "type": "array", "items": { "type": "object", "properties": { "sku": { "type": "string" } } } },
                "by": { "anyOf": [
                    { "type": "object", "properties": { "post": { "type": "boolean" } }, "required": ["post"] },
                    { "type": "null" },
                ] },
            },
            "required": ["price"],
            "$defs": { "Range": { "type": "object", "properties": { "from": { "type": "integer", "minimum": 1 } } } },
        });
        assert_eq!(
            paths(&schema),
            [
                "price object true",
                "price.from integer of at least 1 false",
                "lines array of object false",
                "lines[].sku string false",
                "by object or null false",
                "by(1).post boolean true",
            ]
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let node = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/N" } }, "$defs": { "N": { "type": "object", "properties": { "l": { "$ref": "#/$defs/N" }, "r": { "$ref": "#/$defs/N" }, "m": { "$ref": "#/$defs/N" } } } } });
        assert!(paths(&node).len() <= MAX_FIELDS);
    }
}
