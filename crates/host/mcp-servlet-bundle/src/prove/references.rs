//! References within the schemas of arguments.
//!
//! A schema for clients that is made from those of handlers does not have all of its parts. A reference without a target would go
//! unnoticed: no values are checked against such a schema.

use std::{collections::HashSet, ptr};

use mcp_servlet_schema::{LIST, MAP, SCHEMA, referenced};
use serde_json::Value;

use super::{Proof, StepHandler};
use crate::{
    input_schema::InputSchema,
    problem::{Place, Problem},
    spec::Inputs,
};

/// Reports arguments whose schema refers to a part of a handler's schema that the schema for clients does not have.
pub(super) fn check_references(proof: &mut Proof<'_>, shown: &InputSchema) {
    for handler in &proof.handlers {
        let mut walk = Walk {
            handler: handler.input_schema.json(),
            shown: shown.json(),
            kept: HashSet::new(),
        };
        for (name, schema) in shown.properties() {
            let Some(place) = place(handler, name) else {
                continue;
            };
            let Some(reference) = walk.lost(schema) else {
                continue;
            };
            let message = format!(
                "the schema of the argument `{name}` refers to `{reference}` in the schema of `{}`, which clients do not see: set `arguments`",
                handler.step.target
            );
            proof.problems.push(Problem::new(place, message));
        }
    }
}

/// Where the bundle passes an argument to this handler; `None` if it does not.
fn place(handler: &StepHandler<'_>, argument: &str) -> Option<Place> {
    let inputs = &handler.step.inputs;
    let mut templates = inputs.templates().iter();
    let input = templates.find(|(_, template)| template.argument() == Some(argument));
    let place = handler.step.inputs_place();
    match (inputs, input) {
        (Inputs::Map(_), Some((input, _))) => Some(place.key(input)),
        (Inputs::Map(_), None) => None,
        _ => Some(place),
    }
}

struct Walk<'s> {
    /// The handler's schema, for which the references were written.
    handler: &'s Value,
    /// The schema for clients.
    shown: &'s Value,
    /// Targets that are the same in both.
    kept: HashSet<*const Value>,
}

impl<'s> Walk<'s> {
    /// A reference within a part of the schema for clients whose target is missing there, or another one.
    fn lost(&mut self, part: &'s Value) -> Option<&'s str> {
        // Schemas can nest deeply.
        let mut parts = vec![part];
        while let Some(part) = parts.pop() {
            parts.extend(subschemas(part));
            let Some(reference) = part.get("$ref").and_then(Value::as_str) else {
                continue;
            };
            // Without a target, the reference is a mistake of the handler.
            let Some(target) = referenced(self.handler, reference) else {
                continue;
            };
            if self.kept.contains(&ptr::from_ref(target)) {
                continue;
            }
            if referenced(self.shown, reference) != Some(target) {
                return Some(reference);
            }
            self.kept.insert(ptr::from_ref(target));
            parts.push(target);
        }
        None
    }
}

/// The schemas in the keywords of a schema, without its definitions.
fn subschemas(schema: &Value) -> impl Iterator<Item = &Value> {
    let keywords = schema.as_object().into_iter().flatten();
    keywords.flat_map(|(key, value)| match value {
        Value::Array(schemas) if LIST.contains(&key.as_str()) => schemas.iter().collect(),
        Value::Object(schemas) if MAP.contains(&key.as_str()) => schemas.values().collect(),
        schema if SCHEMA.contains(&key.as_str()) => vec![schema],
        _ => Vec::new(),
    })
}
