//! The parts of a schema that the path of an argument leads to.

use serde_json::{Value, json};

use super::{Step, target};

/// How many parts of a schema are looked at: schemas can refer to themselves.
pub(super) const MAX_PARTS: usize = 100;

/// The schema of the values at a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Subschema {
    /// No value is allowed there.
    Nothing,
    /// Any value may be allowed there.
    Any,
    /// This schema. Its references resolve within the whole schema.
    Schema(Value),
}

/// The part of a schema that describes the values at a path. It may accept more than the whole schema does.
pub(super) fn at(root: &Value, path: &[Step]) -> Subschema {
    let mut left = MAX_PARTS;
    let mut part = Subschema::Schema(root.clone());
    for step in path {
        let Subschema::Schema(schema) = part else {
            return part;
        };
        part = below(root, &schema, step, &mut left);
    }
    part
}

fn below(root: &Value, schema: &Value, step: &Step, left: &mut usize) -> Subschema {
    let Some(rest) = left.checked_sub(1) else {
        return Subschema::Any;
    };
    *left = rest;
    let Value::Object(keywords) = schema else {
        return if *schema == Value::Bool(false) {
            Subschema::Nothing
        } else {
            Subschema::Any
        };
    };
    // References in it would begin elsewhere.
    if keywords.contains_key("$id") && schema != root {
        return Subschema::Any;
    }
    // Older dialects ignore what is next to a reference.
    if let Some(target) = target(root, schema) {
        return below(root, target, step, left);
    }
    let kind = match step {
        Step::Member(_) => "object",
        Step::Items => "array",
    };
    let is_of = |types: &Value| match types {
        Value::String(name) => name == kind,
        Value::Array(names) => names.iter().any(|name| name == kind),
        _ => true,
    };
    if !keywords.get("type").is_none_or(is_of) {
        return Subschema::Nothing;
    }
    let mut all = vec![match step {
        Step::Member(name) => member(schema, name),
        Step::Items => items(schema),
    }];
    let list = |key: &str| keywords.get(key).and_then(Value::as_array);
    for part in list("allOf").into_iter().flatten() {
        all.push(below(root, part, step, left));
    }
    for parts in ["anyOf", "oneOf"].into_iter().filter_map(list) {
        let parts = parts.iter().map(|part| below(root, part, step, left));
        all.push(any(parts.collect()));
    }
    every(all)
}

fn member(schema: &Value, name: &str) -> Subschema {
    if let Some(part) = schema.get("properties").and_then(|all| all.get(name)) {
        return Subschema::Schema(part.clone());
    }
    if schema.get("patternProperties").is_some() {
        return Subschema::Any;
    }
    of_keyword(schema.get("additionalProperties"))
}

fn items(schema: &Value) -> Subschema {
    let items = schema.get("items");
    // The first items have schemas of their own.
    if schema.get("prefixItems").is_some() || items.is_some_and(Value::is_array) {
        return Subschema::Any;
    }
    of_keyword(items)
}

fn of_keyword(keyword: Option<&Value>) -> Subschema {
    match keyword {
        Some(Value::Bool(false)) => Subschema::Nothing,
        Some(part @ Value::Object(_)) => Subschema::Schema(part.clone()),
        _ => Subschema::Any,
    }
}

/// The values that all parts accept.
fn every(parts: Vec<Subschema>) -> Subschema {
    let mut schemas = Vec::new();
    for part in parts {
        match part {
            Subschema::Nothing => return Subschema::Nothing,
            Subschema::Any => {}
            Subschema::Schema(schema) => schemas.push(schema),
        }
    }
    match schemas.len() {
        0 => Subschema::Any,
        1 => Subschema::Schema(schemas.remove(0)),
        _ => Subschema::Schema(json!({ "allOf": schemas })),
    }
}

/// The values that one of the parts accepts.
fn any(parts: Vec<Subschema>) -> Subschema {
    let mut schemas = Vec::new();
    for part in parts {
        match part {
            Subschema::Nothing => {}
            Subschema::Any => return Subschema::Any,
            Subschema::Schema(schema) => schemas.push(schema),
        }
    }
    match schemas.len() {
        0 => Subschema::Nothing,
        1 => Subschema::Schema(schemas.remove(0)),
        _ => Subschema::Schema(json!({ "anyOf": schemas })),
    }
}

/// Whether every call has exactly one value at a path. False if that is not known.
pub(super) fn is_always_there(root: &Value, path: &[Step]) -> bool {
    let mut left = MAX_PARTS;
    let mut schema = root.clone();
    for (number, step) in path.iter().enumerate() {
        let Step::Member(name) = step else {
            return false;
        };
        // The arguments are always an object.
        let is_object = number == 0 || is_object(root, &schema, &mut left);
        if !is_object || !requires(root, &schema, name, &mut left) {
            return false;
        }
        match below(root, &schema, step, &mut left) {
            Subschema::Schema(part) => schema = part,
            Subschema::Nothing | Subschema::Any => return number + 1 == path.len(),
        }
    }
    true
}

fn is_object(root: &Value, schema: &Value, left: &mut usize) -> bool {
    one_says(root, schema, left, &|schema| {
        schema.get("type").is_some_and(|of| of == "object")
    })
}

fn requires(root: &Value, schema: &Value, name: &str, left: &mut usize) -> bool {
    one_says(root, schema, left, &|schema| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|one| one == name))
    })
}

/// Whether `says` is true for a schema, or for one in its `allOf`.
fn one_says(root: &Value, schema: &Value, left: &mut usize, says: &dyn Fn(&Value) -> bool) -> bool {
    let Some(rest) = left.checked_sub(1) else {
        return false;
    };
    *left = rest;
    if let Some(target) = target(root, schema) {
        return one_says(root, target, left, says);
    }
    let all = schema.get("allOf").and_then(Value::as_array);
    says(schema)
        || all
            .into_iter()
            .flatten()
            .any(|part| one_says(root, part, left, says))
}
