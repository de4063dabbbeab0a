//! Arguments that are not in the schema of a tool: some clients add keys of their own.

use std::collections::HashSet;

use serde_json::Value;

use crate::JsonObject;

/// The maximum depth of nested schemas. Beyond it, every name counts as known.
const DEPTH: usize = 16;

/// The names that the schema of the arguments mentions; `None` if it accepts any name.
pub(super) fn known_names(schema: &Value) -> Option<HashSet<String>> {
    let mut known = Known {
        root: schema,
        names: HashSet::new(),
        is_list: false,
    };
    let is_closed = known.add(schema, DEPTH);
    (is_closed && known.is_list).then_some(known.names)
}

struct Known<'a> {
    root: &'a Value,
    names: HashSet<String>,
    /// Whether the schema lists names.
    is_list: bool,
}

impl Known<'_> {
    /// Adds the names of a schema and of all schemas that apply to the same object. Returns false
    /// if the schema accepts any name.
    fn add(&mut self, schema: &Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let Value::Object(schema) = schema else {
            return true;
        };
        if is_open(schema) {
            return false;
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            self.is_list = true;
            self.names.extend(properties.keys().cloned());
        }
        self.is_list |= schema.get("additionalProperties") == Some(&Value::Bool(false));
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        self.names.extend(required.map(str::to_owned));
        self.add_applied(schema, depth)
    }

    fn add_applied(&mut self, schema: &JsonObject, depth: usize) -> bool {
        let one = ["if", "then", "else"]
            .into_iter()
            .filter_map(|key| schema.get(key));
        let lists = ["allOf", "anyOf", "oneOf"]
            .into_iter()
            .filter_map(|key| schema.get(key)?.as_array())
            .flatten();
        let dependent = schema
            .get("dependentSchemas")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(JsonObject::values);
        let mut applied = one.chain(lists).chain(dependent);
        if !applied.all(|schema| self.add(schema, depth)) {
            return false;
        }
        let Some(reference) = schema.get("$ref") else {
            return !schema.contains_key("$dynamicRef");
        };
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        target.is_some_and(|target| self.add(target, depth))
    }
}

/// Whether a schema describes properties without naming them.
fn is_open(schema: &JsonObject) -> bool {
    let others = ["additionalProperties", "unevaluatedProperties"];
    let takes_others = |key| matches!(schema.get(key), Some(Value::Bool(true) | Value::Object(_)));
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    others.into_iter().any(takes_others) || patterns.is_some_and(|patterns| !patterns.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(schema: &Value) -> Option<Vec<String>> {
        let mut names: Vec<_> = known_names(schema)?.into_iter().collect();
        names.sort();
        Some(names)
    }

    #[test]
    fn names_are_those_of_the_properties() {
        let a = json!({ "properties": { "a": true } });
        for (schema, names) in [
            (
                json!({ "properties": { "a": {}, "b": {} } }),
                &["a", "b"][..],
            ),
            (json!({ "properties": {} }), &[]),
            (json!({ "additionalProperties": false }), &[]),
            (
                json!({ "properties": { "a": {} }, "additionalProperties": false }),
                &["a"],
            ),
            (
                json!({ "properties": { "a": {} }, "required": ["b"] }),
                &["a", "b"],
            ),
            (
                json!({ "properties": { "b": {} }, "allOf": [a, true] }),
                &["a", "b"],
            ),
            (
                json!({ "oneOf": [a, { "properties": { "b": {} } }] }),
                &["a", "b"],
            ),
            (
                json!({ "properties": {}, "if": a, "then": { "properties": { "c": {} } } }),
                &["a", "c"],
            ),
            (json!({ "$ref": "#/$defs/A", "$defs": { "A": a } }), &["a"]),
            (
                json!({ "properties": { "b": {} }, "dependentSchemas": { "b": a } }),
                &["a", "b"],
            ),
        ] {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(known(&schema), Some(names), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_takes_any_name_knows_none() {
        for schema in [
            json!({ "type": "object" }),
            json!({ "properties": { "a": {} }, "additionalProperties": true }),
            json!({ "properties": { "a": {} }, "additionalProperties": { "type": "string" } }),
            json!({ "properties": { "a": {} }, "patternProperties": { "^x-": {} } }),
            json!({ "properties": { "a": {} }, "unevaluatedProperties": {} }),
            json!({ "properties": { "a": {} }, "anyOf": [{ "additionalProperties": true }] }),
            json!({ "properties": { "a": {} }, "$ref": "https://example.com/schema" }),
            json!({ "properties": { "a": {} }, "$ref": "#" }),
            json!({ "properties": { "a": {} }, "$dynamicRef": "#node" }),
        ] {
            assert_eq!(known(&schema), None, "{schema}");
        }
    }
}
