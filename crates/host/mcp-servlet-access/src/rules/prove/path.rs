//! The parts of a schema that the path of an argument leads to.

use serde_json::{Value, json};

use super::{Step, target};

/// How many parts of a schema are looked at: schemas can refer to themselves.
pub(super) const MAX_PARTS: usize = 100;

/// What the schema says about the values at a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// There are none.
    Nothing,
    /// Nothing.
    Any,
    /// They match this schema, whose references are within the same root.
    Schema(Value),
}

/// The part of a schema that describes the values at a path. It may accept more than the whole schema does.
pub(super) fn at(root: &Value, path: &[Step]) -> Part {
    let mut left = MAX_PARTS;
    let mut part = Part::Schema(root.clone());
    for step in path {
        let Part::Schema(schema) = part else {
            return part;
        };
        part = below(root, &schema, step, &mut left);
    }
    part
}

fn below(root: &Value, schema: &Value, step: &Step, left: &mut usize) -> Part {
    let Some(rest) = left.checked_sub(1) else {
        return Part::Any;
    };
    *left = rest;
    let Value::Object(keywords) = schema else {
        return if *schema == Value::Bool(false) {
            Part::Nothing
        } else {
            Part::Any
        };
    };
    // References in it would begin elsewhere.
    if keywords.contains_key("$id") && schema != root {
        return Part::Any;
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
        return Part::Nothing;
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

fn member(schema: &Value, name: &str) -> Part {
    if let Some(part) = schema.get("properties").and_then(|all| all.get(name)) {
        return Part::Schema(part.clone());
    }
    if schema.get("patternProperties").is_some() {
        return Part::Any;
    }
    of_keyword(schema.get("additionalProperties"))
}

fn items(schema: &Value) -> Part {
    let items = schema.get("items");
    // The first items have schemas of their own.
    if schema.get("prefixItems").is_some() || items.is_some_and(Value::is_array) {
        return Part::Any;
    }
    of_keyword(items)
}

fn of_keyword(keyword: Option<&Value>) -> Part {
    match keyword {
        Some(Value::Bool(false)) => Part::Nothing,
        Some(part @ Value::Object(_)) => Part::Schema(part.clone()),
        _ => Part::Any,
    }
}

/// The values that all parts accept.
fn every(parts: Vec<Part>) -> Part {
    let mut schemas = Vec::new();
    for part in parts {
        match part {
            Part::Nothing => return Part::Nothing,
            Part::Any => {}
            Part::Schema(schema) => schemas.push(schema),
        }
    }
    match schemas.len() {
        0 => Part::Any,
        1 => Part::Schema(schemas.remove(0)),
        _ => Part::Schema(json!({ "allOf": schemas })),
    }
}

/// The values that one of the parts accepts.
fn any(parts: Vec<Part>) -> Part {
    let mut schemas = Vec::new();
    for part in parts {
        match part {
            Part::Nothing => {}
            Part::Any => return Part::Any,
            Part::Schema(schema) => schemas.push(schema),
        }
    }
    match schemas.len() {
        0 => Part::Nothing,
        1 => Part::Schema(schemas.remove(0)),
        _ => Part::Schema(json!({ "anyOf": schemas })),
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
            Part::Schema(part) => schema = part,
            Part::Nothing | Part::Any => return number + 1 == path.len(),
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

/// Whether a schema says something, or one of the schemas in its `allOf`.
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
