//! Makes an example value for a schema, which helps a model to correct its call.

use serde_json::{Map, Value, json};

/// The maximum depth of examples.
const MAX_DEPTH: usize = 8;

/// A value that probably matches. Callers validate it before they show it.
pub(crate) fn example_of(schema: &Value, root: &Value) -> Option<Value> {
    value(schema, root, 0)
}

fn value(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
        return value(root.pointer(pointer.strip_prefix('#')?)?, root, depth + 1);
    }
    for lists in ["examples", "enum"] {
        if let Some(first) = schema.get(lists).and_then(|list| list.get(0)) {
            return Some(first.clone());
        }
    }
    for keyword in ["default", "const"] {
        if let Some(value) = schema.get(keyword) {
            return Some(value.clone());
        }
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(first) = schema.get(several).and_then(|list| list.get(0)) {
            return value(first, root, depth + 1);
        }
    }
    let bound = |key: &str| schema.get(key).filter(|bound| bound.is_number()).cloned();
    let bound = bound("minimum").or_else(|| bound("maximum"));
    match ty(schema)? {
        "string" => Some("text".into()),
        "integer" => Some(bound.unwrap_or(json!(1))),
        "number" => Some(bound.unwrap_or(json!(1.5))),
        "boolean" => Some(true.into()),
        "null" => Some(Value::Null),
        "array" => array(schema, root, depth),
        "object" => object(schema, root, depth),
        _ => None,
    }
}

fn ty(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(ty)) => Some(ty),
        Some(Value::Array(types)) => types.first()?.as_str(),
        _ => schema.get("properties").map(|_| "object"),
    }
}

fn array(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1);
    let Some(items) = schema.get("items") else {
        return Some(json!([]));
    };
    let item = value(items, root, depth + 1)?;
    let count = usize::try_from(count.clamp(1, 10)).ok()?;
    Some(Value::Array(vec![item; count]))
}

/// The root gets all properties, nested objects only the required ones.
fn object(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let mut members = Map::new();
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if depth == 0 || is_required(name) {
            members.insert(name.clone(), value(property, root, depth + 1)?);
        }
    }
    Some(Value::Object(members))
}
