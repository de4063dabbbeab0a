//! What the input schema of a tool says about its arguments.

use serde_json::{Map, Value};

use crate::JsonObject;

/// Keywords that hold schemas for references.
pub(crate) const DEFINITIONS: [&str; 3] = ["$defs", "definitions", "$schema"];

/// Keywords with which a schema can speak of properties outside `properties` and `required`.
const ELSEWHERE: [&str; 14] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minProperties",
    "maxProperties",
];

/// The input schema of a tool.
#[derive(Clone, Debug)]
pub(crate) struct InputSchema(Value);

impl InputSchema {
    pub(crate) fn new(json: Value) -> Self {
        Self(json)
    }

    /// The schema in the definition of a tool. Without one, the tool takes any arguments.
    pub(crate) fn of_tool(tool: &JsonObject) -> Self {
        let schema = tool.get("inputSchema").cloned();
        Self(schema.unwrap_or_else(|| Map::new().into()))
    }

    pub(crate) fn json(&self) -> &Value {
        &self.0
    }

    /// The arguments that the schema names, with their schemas.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten()
    }

    /// The arguments that each call needs.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.0.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn names(&self, argument: &str) -> bool {
        self.property(argument).is_some()
    }

    fn property(&self, argument: &str) -> Option<&Value> {
        self.0.get("properties")?.get(argument)
    }

    pub(crate) fn requires(&self, argument: &str) -> bool {
        self.required().any(|name| name == argument)
    }

    /// The schema of the values of an argument; `None` if they may be any, as far as is known.
    pub(crate) fn argument(&self, argument: &str) -> Option<&Value> {
        match self.property(argument) {
            Some(schema) => Some(schema),
            None if self.has("patternProperties") => None,
            None => {
                let others = self.0.get("additionalProperties");
                others.filter(|schema| schema.is_object())
            }
        }
    }

    /// Whether the tool may take an argument of this name.
    pub(crate) fn takes(&self, argument: &str) -> bool {
        self.is_open() || self.names(argument)
    }

    /// Whether arguments may have names that are not in `properties`.
    ///
    /// For JSON Schema, only `additionalProperties: false` excludes them. A schema with `properties` most likely names all of
    /// them, so its other names count as mistakes.
    pub(crate) fn is_open(&self) -> bool {
        let is_elsewhere = || self.elsewhere().is_some();
        let takes_others = |keyword: &str| Some(*self.0.get(keyword)? != Value::Bool(false));
        let additional = takes_others("additionalProperties");
        match (additional, takes_others("unevaluatedProperties")) {
            (Some(takes), _) => takes || self.has("patternProperties"),
            (None, Some(takes)) => takes || is_elsewhere(),
            (None, None) => !self.has("properties") || is_elsewhere(),
        }
    }

    /// The keyword with which the schema may speak of arguments outside `properties` and `required`.
    pub(crate) fn elsewhere(&self) -> Option<&'static str> {
        ELSEWHERE.into_iter().find(|key| self.has(key))
    }

    fn has(&self, keyword: &str) -> bool {
        self.0.get(keyword).is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_names_no_arguments_takes_any() {
        let a = || json!({ "a": {} });
        for (schema, is_open) in [
            (json!({}), true),
            (json!({ "type": "object" }), true),
            (json!({ "type": "object", "required": ["a"] }), true),
            (json!({ "additionalProperties": false }), false),
            (json!({ "unevaluatedProperties": false }), false),
            (json!({ "properties": {} }), false),
            (json!({ "properties": a() }), false),
            (
                json!({ "properties": a(), "additionalProperties": false }),
                false,
            ),
            (
                json!({ "properties": a(), "additionalProperties": {} }),
                true,
            ),
            (
                json!({ "properties": a(), "unevaluatedProperties": true }),
                true,
            ),
            (json!({ "properties": a(), "allOf": [] }), true),
            (
                json!({ "properties": a(), "allOf": [], "unevaluatedProperties": false }),
                true,
            ),
            (
                json!({ "properties": a(), "allOf": [], "additionalProperties": false }),
                false,
            ),
            (
                json!({ "patternProperties": { "^b": {} }, "additionalProperties": false }),
                true,
            ),
        ] {
            let text = schema.to_string();
            let schema = InputSchema::new(schema);
            assert_eq!(schema.is_open(), is_open, "{text}");
            assert_eq!(schema.takes("b"), is_open, "{text}");
            assert_eq!(schema.takes("a"), is_open || schema.names("a"), "{text}");
        }
    }

    #[test]
    fn the_schema_of_an_argument_can_be_that_of_all_others() {
        let number = || json!({ "type": "number" });
        let schema = json!({ "properties": { "a": {} }, "additionalProperties": number() });
        let schema = InputSchema::new(schema);
        assert_eq!(schema.argument("a"), Some(&json!({})));
        assert_eq!(schema.argument("b"), Some(&number()));
        let patterns = json!({ "patternProperties": {}, "additionalProperties": number() });
        for schema in [json!({}), json!({ "additionalProperties": true }), patterns] {
            let text = schema.to_string();
            assert_eq!(InputSchema::new(schema).argument("b"), None, "{text}");
        }
    }
}
