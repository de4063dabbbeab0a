//! The input schema of a virtual tool.

use std::collections::HashMap;

use mcp_servlet_expression::PathStep;
use serde_json::{Map, Value, json};

use super::{Proof, StepHandler};
use crate::{
    expressions::Found,
    input_schema::{DEFINITIONS, InputSchema},
    problem::Problem,
    spec::Inputs,
    step::Target,
    template::Template,
};

/// The schema of the arguments, as clients see it.
pub(super) fn advertised(proof: &mut Proof<'_>) -> InputSchema {
    let tool = proof.tool;
    if let Some(schema) = &tool.arguments {
        return InputSchema::new(schema.clone());
    }
    if let [handler] = proof.handlers.as_slice() {
        match &handler.step.inputs {
            Inputs::Map(_) => {}
            Inputs::Set(templates) => {
                return InputSchema::new(without(&handler.input_schema, templates));
            }
            Inputs::Pass => return handler.input_schema.clone(),
        }
    }
    InputSchema::new(derived(proof))
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

/// A schema of the arguments that are the whole value of an input, with the handlers' schemas.
fn derived(proof: &mut Proof<'_>) -> Value {
    let mut arguments = Derived::default();
    for handler in &proof.handlers {
        arguments.add(handler, &mut proof.problems);
    }
    let Derived {
        properties,
        required,
        definitions,
        ..
    } = arguments;
    for found in proof.tool.expressions() {
        if found.step.is_some() {
            unknown(&found, &properties, &mut proof.problems);
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["additionalProperties"] = false.into();
    for (key, value) in definitions {
        schema[key] = value;
    }
    schema
}

/// Arguments that are the whole value of an input.
#[derive(Default)]
struct Derived<'p> {
    properties: Map<String, Value>,
    /// The target whose schema each property has. Messages name it.
    takers: HashMap<String, &'p Target>,
    required: Vec<String>,
    /// Definitions that the schemas may refer to. [`references`](super::references) reports those that are lost.
    definitions: Map<String, Value>,
}

impl<'p> Derived<'p> {
    fn add(&mut self, handler: &StepHandler<'p>, problems: &mut Vec<Problem>) {
        let StepHandler {
            step, input_schema, ..
        } = handler;
        for (input, template) in step.inputs.templates() {
            let Some(name) = template.argument() else {
                continue;
            };
            let schema = input_schema
                .argument(input)
                .cloned()
                .unwrap_or_else(|| json!({}));
            match self.properties.get(name).zip(self.takers.get(name)) {
                Some((known, taker)) if step.name.is_some() && differ(known, &schema) => {
                    let message = format!(
                        "`{name}` goes to `{taker}` as {} and to `{}` as {}: set `arguments`",
                        plain(known),
                        step.target,
                        plain(&schema)
                    );
                    problems.push(Problem::new(step.inputs_place().key(input), message));
                }
                Some((known, _)) if !takes_all(known) => {}
                _ => {
                    self.properties.insert(name.to_owned(), schema);
                    self.takers.insert(name.to_owned(), &step.target);
                }
            }
            let is_required =
                input_schema.requires(input) && !template.is_optional() && !step.is_conditional();
            if is_required && !self.required.iter().any(|known| known == name) {
                self.required.push(name.to_owned());
            }
        }
        for key in DEFINITIONS {
            match (self.definitions.get_mut(key), input_schema.json().get(key)) {
                (Some(Value::Object(known)), Some(Value::Object(more))) => {
                    for (name, schema) in more {
                        known.entry(name).or_insert_with(|| schema.clone());
                    }
                }
                (None, Some(definitions)) => {
                    self.definitions.insert(key.to_owned(), definitions.clone());
                }
                _ => {}
            }
        }
    }
}

/// Whether two schemas of an argument contradict each other, as far as is known.
fn differ(one: &Value, other: &Value) -> bool {
    !takes_all(one) && !takes_all(other) && plain(one) != plain(other)
}

/// Whether a schema takes all values.
fn takes_all(schema: &Value) -> bool {
    plain(schema).as_object().is_some_and(Map::is_empty)
}

/// A schema without what only people read.
fn plain(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(keywords) = schema.as_object_mut() {
        let texts = ["title", "description", "default", "examples"];
        keywords.retain(|key, _| !texts.contains(&key.as_str()));
    }
    schema
}

/// Reports arguments whose schema is unknown, because no input is exactly this argument.
fn unknown(found: &Found<'_>, known: &Map<String, Value>, problems: &mut Vec<Problem>) {
    let paths = found.expression.reads.iter();
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
        problems.push(found.problem(range, message));
    }
}
