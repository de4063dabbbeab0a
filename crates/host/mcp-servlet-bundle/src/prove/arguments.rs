//! The input schema of a virtual tool.

use mcp_servlet_expression::{Expression, PathStep};
use serde_json::{Map, Value, json};

use super::Proof;
use crate::{
    input_schema::{DEFINITIONS, InputSchema},
    problem::{Place, Problem},
    spec::Inputs,
    template::Template,
};

/// The schema of the arguments, as clients see it.
pub(super) fn advertised(proof: &mut Proof<'_>) -> InputSchema {
    let tool = proof.tool;
    match (&tool.arguments, &tool.inputs) {
        (Some(schema), _) => InputSchema::new(schema.clone()),
        (None, Inputs::Map(templates)) => InputSchema::new(derived(proof, templates)),
        (None, Inputs::Set(templates)) => InputSchema::new(without(&proof.input_schema, templates)),
        (None, Inputs::Pass) => proof.input_schema.clone(),
    }
}

/// The handler's schema without the arguments that are fixed.
fn without(handler: &InputSchema, fixed: &[(String, Template)]) -> Value {
    let mut schema = handler.json().clone();
    let is_fixed = |name: &str| fixed.iter().any(|(fixed, _)| fixed == name);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !is_fixed(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(is_fixed));
    }
    if !handler.is_open() {
        schema["additionalProperties"] = false.into();
    }
    schema
}

/// A schema of the arguments that are inputs by themselves, with the handler's schemas.
fn derived(proof: &mut Proof<'_>, templates: &[(String, Template)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (input, template) in templates {
        let Some(name) = template.argument() else {
            continue;
        };
        let handler = &proof.input_schema;
        let schema = handler.argument(input).cloned();
        let schema = schema.unwrap_or_else(|| json!({}));
        properties.entry(name).or_insert(schema);
        let is_required = handler.requires(input) && !template.is_optional();
        if is_required && !required.contains(&name) {
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
        if let Some(definitions) = proof.input_schema.json().get(key) {
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
    let paths = expression.reads.iter();
    for path in paths.filter(|path| path.root == "request") {
        let [PathStep::Member { name, range, .. }, steps @ ..] = path.steps.as_slice() else {
            continue;
        };
        if name != "arguments" {
            continue;
        }
        let (range, message) = match steps.first() {
            Some(PathStep::Member { name, .. }) if known.contains_key(name) => continue,
            Some(PathStep::Member { name, range, .. }) => (
                range,
                format!(
                    "the schema of the argument `{name}` is not known: no input is only `request.arguments.{name}`; set `arguments`"
                ),
            ),
            // All arguments together are those that other inputs consist of.
            _ if !known.is_empty() => continue,
            _ => (
                range,
                "the arguments are not known: no input is only `request.arguments.NAME`; set `arguments`"
                    .to_owned(),
            ),
        };
        let range = range.start + start..range.end + start;
        problems.push(Problem::within(place.clone(), range, message));
    }
}
