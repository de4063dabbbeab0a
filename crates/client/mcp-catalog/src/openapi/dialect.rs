//! Brings schemas of older dialects to 2020-12, which is the one of OpenAPI 3.1.

use serde_json::Value;

use crate::JsonObject;

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

/// Keywords that name the dialect or a schema. Only references outside of `components` would need them.
const NAMES: [&str; 6] = [
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
];

/// What stays next to a reference in dialects that ignore everything else there.
const BESIDE_REFERENCE: [&str; 5] = ["$ref", "$defs", "definitions", "title", "description"];

impl Dialect {
    /// The dialect that `$schema` names, or else 2020-12.
    ///
    /// # Errors
    /// The dialect is unknown.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let Some(name) = schema.get("$schema").and_then(Value::as_str) else {
            return Ok(Self::Draft2020);
        };
        let (_, version) = name.split_once("://").unwrap_or_default();
        match version.trim_end_matches('#') {
            "json-schema.org/draft-04/schema" => Ok(Self::Draft4),
            "json-schema.org/draft-06/schema" => Ok(Self::Draft6),
            "json-schema.org/draft-07/schema" => Ok(Self::Draft7),
            "json-schema.org/draft/2019-09/schema" => Ok(Self::Draft2019),
            "json-schema.org/draft/2020-12/schema" => Ok(Self::Draft2020),
            _ => Err(format!("the dialect `{name}` is unknown")),
        }
    }

    /// Removes what this dialect ignores next to a reference, but 2020-12 does not.
    pub(super) fn remove_ignored(self, schema: &mut JsonObject) {
        if self <= Self::Draft7 && schema.contains_key("$ref") {
            schema.retain(|keyword, _| BESIDE_REFERENCE.contains(&keyword.as_str()));
        }
    }

    /// Whether a schema has a URI of its own, which references within it are relative to.
    pub(super) fn has_base(self, schema: &JsonObject) -> bool {
        let id = schema.get(self.id()).and_then(Value::as_str);
        id.is_some_and(|id| !id.starts_with('#'))
    }

    fn id(self) -> &'static str {
        match self {
            Self::Draft4 => "id",
            _ => "$id",
        }
    }

    /// Replaces the keywords of one schema that mean something else in 2020-12.
    pub(super) fn upgrade(self, schema: &mut JsonObject) {
        for keyword in NAMES.iter().copied().chain([self.id()]) {
            schema.shift_remove(keyword);
        }
        for keyword in ["$defs", "definitions"] {
            if schema.get(keyword).is_some_and(is_empty) {
                schema.shift_remove(keyword);
            }
        }
        if self < Self::Draft2020 {
            upgrade_items(schema);
        }
        if self <= Self::Draft7 {
            upgrade_dependencies(schema);
        }
        if self == Self::Draft4 {
            upgrade_bound(schema, "minimum", "exclusiveMinimum");
            upgrade_bound(schema, "maximum", "exclusiveMaximum");
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(JsonObject::is_empty)
}

/// A list of `items` became `prefixItems`, and what applies to the other items became `items`.
fn upgrade_items(schema: &mut JsonObject) {
    let others = schema.shift_remove("additionalItems");
    if !schema.get("items").is_some_and(Value::is_array) {
        return;
    }
    let first = schema.shift_remove("items");
    schema.extend(first.map(|first| ("prefixItems".to_owned(), first)));
    schema.extend(others.map(|others| ("items".to_owned(), others)));
}

/// `dependencies` became two keywords: one for lists of names, and one for schemas.
fn upgrade_dependencies(schema: &mut JsonObject) {
    let Some(Value::Object(dependencies)) = schema.shift_remove("dependencies") else {
        return;
    };
    let (names, schemas): (JsonObject, JsonObject) = dependencies
        .into_iter()
        .partition(|(_, value)| value.is_array());
    for (keyword, members) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
        if !members.is_empty() {
            schema.insert(keyword.to_owned(), members.into());
        }
    }
}

/// Exclusive bounds were booleans.
fn upgrade_bound(schema: &mut JsonObject, bound: &str, exclusive: &str) {
    let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) else {
        return;
    };
    let is_exclusive = *is_exclusive;
    schema.shift_remove(exclusive);
    if is_exclusive && let Some(limit) = schema.shift_remove(bound) {
        schema.insert(exclusive.to_owned(), limit);
    }
}
