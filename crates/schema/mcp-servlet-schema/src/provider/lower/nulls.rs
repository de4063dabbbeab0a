//! `null` for optional properties, as strict mode of `OpenAI` expects it: all properties are
//! required, and optional ones accept `null`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::remove;
use crate::JsonObject;

/// Makes all properties of an object required, and lets the optional ones be `null`.
pub(super) fn require_all(schema: &mut Value) {
    let optional = optional(schema);
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for name in &optional {
        if let Some(property) = properties.get_mut(name)
            && !takes_null(property)
        {
            take_null(property);
        }
    }
    let names = properties.keys().cloned().map(Value::String);
    schema["required"] = names.collect();
}

/// Removes each `null` that [`require_all`] allowed from the arguments. `schema` is the original one.
pub(super) fn without_added_nulls<'a>(
    schema: &Value,
    arguments: &'a JsonObject,
) -> Cow<'a, JsonObject> {
    if !arguments.values().any(has_null) {
        return Cow::Borrowed(arguments);
    }
    let mut value = Value::Object(arguments.clone());
    remove_nulls(schema, &mut value);
    match value {
        Value::Object(members) => Cow::Owned(members),
        _ => Cow::Borrowed(arguments),
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

fn remove_nulls(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(members) => {
            let properties = &schema["properties"];
            for name in optional(schema) {
                if members.get(&name) == Some(&Value::Null) && !takes_null(&properties[&name]) {
                    members.shift_remove(&name);
                }
            }
            for (name, member) in members.iter_mut() {
                let inner = properties.get(name);
                remove_nulls(inner.unwrap_or(&schema["additionalProperties"]), member);
            }
        }
        Value::Array(items) => {
            for item in items {
                remove_nulls(&schema["items"], item);
            }
        }
        _ => return,
    }
    for branch in branches(schema) {
        if can_match(branch, value) {
            remove_nulls(branch, value);
        }
    }
}

/// Whether a value may be of this variant: its members have values that the schema lists, such as a tag.
fn can_match(schema: &Value, value: &Value) -> bool {
    let mut properties = schema["properties"].as_object().into_iter().flatten();
    properties.all(
        |(name, property)| match (value.get(name), listed_values(property)) {
            // `null` may be one that `require_all` allowed.
            (None | Some(Value::Null), _) | (_, None) => true,
            (Some(member), Some(values)) => values.contains(member),
        },
    )
}

/// The values that a schema lists with `enum` or `const`.
pub(super) fn listed_values(schema: &Value) -> Option<&[Value]> {
    let values = schema
        .get("enum")
        .and_then(Value::as_array)
        .map(Vec::as_slice);
    values.or_else(|| schema.get("const").map(std::slice::from_ref))
}

/// The properties that are not required.
fn optional(schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array();
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let names = properties.map(|(name, _)| name);
    names.filter(|name| !is_required(name)).cloned().collect()
}

fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .filter_map(|key| schema.get(key)?.as_array());
    lists.flatten()
}

/// Whether a schema accepts `null`. Its references must be replaced already.
fn takes_null(schema: &Value) -> bool {
    let any_takes_null = |key: &str| {
        let branches = schema.get(key).and_then(Value::as_array);
        branches.is_none_or(|branches| branches.iter().any(takes_null))
    };
    let type_takes_null = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|ty| ty == "null"),
        ty => ty.is_none_or(|ty| ty == "null"),
    };
    let values = schema.get("enum").and_then(Value::as_array);
    let all_take_null = schema.get("allOf").and_then(Value::as_array);
    type_takes_null
        && values.is_none_or(|values| values.contains(&Value::Null))
        && schema.get("const").is_none_or(Value::is_null)
        && any_takes_null("anyOf")
        && any_takes_null("oneOf")
        && all_take_null.is_none_or(|branches| branches.iter().all(takes_null))
}

/// Adds `null` to the types of a schema if that is enough, or else to its alternatives.
fn take_null(schema: &mut Value) {
    let is_plain = ["const", "anyOf", "oneOf", "allOf"]
        .iter()
        .all(|key| schema.get(key).is_none());
    if is_plain && let Some(ty @ (Value::String(_) | Value::Array(_))) = schema.get_mut("type") {
        match ty {
            Value::Array(types) if types.iter().any(|ty| ty == "null") => {}
            Value::Array(types) => types.push("null".into()),
            one => *one = json!([one.take(), "null"]),
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
        return;
    }
    // The description stays with the property.
    let description = remove(schema, "description");
    let branches = match schema.as_object_mut() {
        Some(members) if members.len() == 1 => remove(schema, "anyOf"),
        _ => None,
    };
    let mut branches = match branches {
        Some(Value::Array(branches)) => branches,
        _ => vec![schema.take()],
    };
    branches.push(json!({ "type": "null" }));
    *schema = json!({ "anyOf": branches });
    if let Some(description) = description {
        schema["description"] = description;
    }
}
