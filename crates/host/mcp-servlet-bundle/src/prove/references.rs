//! References within the schemas of arguments.
//!
//! A schema for clients that is made from the handler's does not have all of its parts. A reference without a target would go
//! unnoticed: no values are checked against such a schema.

use std::{collections::HashSet, ptr};

use mcp_servlet_schema::{LIST, MAP, SCHEMA, referenced};
use serde_json::Value;

use super::Proof;
use crate::{input_schema::InputSchema, problem::Place, spec::Inputs};

/// Reports arguments whose schema refers to a part of the handler's schema that the schema for clients does not have.
pub(super) fn check(proof: &mut Proof<'_>, shown: &InputSchema) {
    let mut walk = Walk {
        handler: proof.input_schema.json(),
        shown: shown.json(),
        kept: HashSet::new(),
    };
    let arguments = shown.properties();
    let lost = arguments.filter_map(|(name, schema)| Some((name, walk.lost(schema)?)));
    let lost: Vec<_> = lost
        .map(|(name, reference)| {
            let message = format!(
                "the schema of the argument `{name}` refers to `{reference}` in the schema of `{}`, which clients do not see: set `arguments`",
                proof.tool.handler
            );
            (place(&proof.tool.inputs, name), message)
        })
        .collect();
    for (place, message) in lost {
        proof.problem(place, message);
    }
}

/// The place in the bundle that gives clients an argument.
fn place(inputs: &Inputs, argument: &str) -> Place {
    let (key, templates) = inputs.templates();
    let mut templates = templates.iter();
    let input = templates.find(|(_, template)| template.argument() == Some(argument));
    match (inputs, input) {
        (Inputs::Map(_), Some((input, _))) => Place::of(key).key(input),
        _ => Place::of(key),
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
