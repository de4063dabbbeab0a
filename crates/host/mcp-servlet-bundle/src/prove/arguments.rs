//! The input schema of a virtual tool.

use mcp_servlet_schema::Validator;
use serde_json::{Map, Value, json};

use super::Proof;
use crate::{
    expression::Expression,
    path::PathStep,
    problem::{Place, Problem},
    spec::Inputs,
    template::Template,
};

/// Keywords that hold schemas for references.
const DEFINITIONS: [&str; 3] = ["$defs", "definitions", "$schema"];

/// The maximum length of a schema in a message, in bytes.
const SHOWN: usize = 200;

/// The schema of the arguments, as clients see it.
pub(super) fn advertised(proof: &mut Proof<'_>) -> Value {
    let tool = proof.tool;
    match (&tool.arguments, &tool.inputs) {
        (Some(schema), inputs) => {
            check_kinds(proof, schema, inputs.templates());
            if let Inputs::Set(templates) = inputs {
                check_fixed(proof, schema, templates);
            }
            schema.clone()
        }
        (None, Inputs::Map(templates)) => derived(proof, templates),
        (None, Inputs::Set(templates)) => without(&proof.schema, templates),
        (None, Inputs::Pass) => proof.schema.clone(),
    }
}

/// The handler's schema without the arguments that are fixed.
fn without(schema: &Value, fixed: &[(String, Template)]) -> Value {
    let mut schema = schema.clone();
    let is_fixed = |name: &str| fixed.iter().any(|(fixed, _)| fixed == name);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !is_fixed(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(is_fixed));
    }
    if let Value::Object(members) = &mut schema {
        members
            .entry("additionalProperties")
            .or_insert(false.into());
    }
    schema
}

fn is_optional(template: &Template) -> bool {
    let steps = template
        .expression()
        .and_then(Expression::path)
        .map(|path| &path.steps);
    let last = steps.and_then(|steps| steps.last());
    matches!(
        last,
        Some(PathStep::Member {
            is_optional: true,
            ..
        })
    )
}

/// A schema of the arguments that are inputs by themselves, with the handler's schemas.
fn derived(proof: &mut Proof<'_>, templates: &[(String, Template)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (input, template) in templates {
        let Some(name) = template.argument() else {
            continue;
        };
        let schema = proof
            .properties
            .get(input)
            .cloned()
            .unwrap_or_else(|| json!({}));
        properties.entry(name).or_insert(schema);
        if proof.required.contains(input) && !is_optional(template) && !required.contains(&name) {
            required.push(name);
        }
    }
    for (input, template) in templates {
        template.each(&Place::of("inputs").key(input), &mut |place, start, one| {
            unknown(one, place, start, &properties, &mut proof.problems);
        });
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["additionalProperties"] = false.into();
    for key in DEFINITIONS {
        if let Some(definitions) = proof.schema.get(key) {
            schema[key] = definitions.clone();
        }
    }
    schema
}

/// Reports arguments that no input consists of, so that their schemas are not known.
fn unknown(
    expression: &Expression,
    place: &Place,
    start: usize,
    known: &Map<String, Value>,
    problems: &mut Vec<Problem>,
) {
    for path in expression
        .reads
        .iter()
        .filter(|path| path.root == "request")
    {
        let [first, PathStep::Member { name, range, .. }, ..] = path.steps.as_slice() else {
            continue;
        };
        if first.name() != Some("arguments") || known.contains_key(name) {
            continue;
        }
        let message = format!(
            "the schema of the argument `{name}` is not known: no input is only `request.arguments.{name}`; set `arguments`"
        );
        let range = range.start + start..range.end + start;
        problems.push(Problem::within(place.clone(), range, message));
    }
}

/// Reports arguments that are both fixed and expected from clients.
fn check_fixed(proof: &mut Proof<'_>, schema: &Value, fixed: &[(String, Template)]) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    for (name, _) in fixed {
        let has_property = properties.is_some_and(|all| all.contains_key(name));
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
        if has_property || is_required {
            let message =
                format!("`{name}` is fixed by `set`, so clients cannot send it: remove it here");
            proof.problem(Place::of("arguments"), message);
        }
    }
}

/// Reports arguments whose type the handler does not take.
fn check_kinds(
    proof: &mut Proof<'_>,
    schema: &Value,
    (key, templates): (&'static str, &[(String, Template)]),
) {
    let kind_of = |schema: &Value| {
        schema
            .get("type")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    for (input, template) in templates {
        let Some(name) = template.argument() else {
            continue;
        };
        let ours = schema.get("properties").and_then(|all| all.get(name));
        let theirs = proof.properties.get(input);
        let (Some(ours), Some(theirs)) = (ours.and_then(kind_of), theirs.and_then(kind_of)) else {
            continue;
        };
        if ours != theirs && (ours.as_str(), theirs.as_str()) != ("integer", "number") {
            let message = format!(
                "the argument `{name}` is {{\"type\":\"{ours}\"}}, but `{}` takes {{\"type\":\"{theirs}\"}} for `{input}`",
                proof.tool.handler
            );
            proof.problem(Place::of(key).key(input), message);
        }
    }
}

/// Whether a part of a schema accepts a value. True if that cannot be checked.
pub(super) fn accepts(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut whole = Map::from_iter([("properties".to_owned(), json!({ "value": schema }))]);
    for key in DEFINITIONS {
        if let Some(definitions) = root.get(key) {
            whole.insert(key.to_owned(), definitions.clone());
        }
    }
    match Validator::new(&whole.into()) {
        Ok(validator) => validator.check(&json!({ "value": value })).is_ok(),
        Err(_) => true,
    }
}

/// A schema for a message, if it is short.
pub(super) fn shown(schema: &Value) -> Option<String> {
    let text = schema.to_string();
    (text.len() <= SHOWN).then_some(text)
}
