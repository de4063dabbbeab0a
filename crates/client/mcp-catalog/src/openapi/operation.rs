//! The paths and operations of tools and prompts.

use iri_string::percent_encode::PercentEncodedForUri;
use serde_json::{Value, json};

use super::{
    members::{extensions, present, text},
    results,
};
use crate::{JsonObject, catalog::Item};

/// The path. Names that differ have paths that differ.
pub(super) fn path(folder: &str, name: &str) -> String {
    format!(
        "/{folder}/{}",
        PercentEncodedForUri::from_path_segment(name)
    )
}

/// Calls a tool.
pub(super) fn tool(item: &Item, input: &str, output: Option<&str>) -> Value {
    let responses = match output {
        Some(schema) => responses("The structured content of the result", schema),
        None => responses("The result of the tool", results::TOOL_RESULT),
    };
    post(item, &item.name, input, responses)
}

/// Gets a prompt.
pub(super) fn prompt(item: &Item, id: &str, input: &str) -> Value {
    let responses = responses("The messages of the prompt", results::PROMPT_RESULT);
    post(item, id, input, responses)
}

fn post(item: &Item, id: &str, input: &str, responses: Value) -> Value {
    let body = json!({ "required": true, "content": content(input) });
    let mut operation = JsonObject::new();
    operation.extend(present([
        ("operationId", Some(id.into())),
        ("summary", text(item.title.as_deref())),
        ("description", text(item.description.as_deref())),
        ("requestBody", Some(body)),
        ("responses", Some(responses)),
    ]));
    operation.extend(extensions(item));
    Value::Object(operation)
}

/// A result, and errors.
pub(super) fn responses(description: &str, schema: &str) -> Value {
    json!({
        "200": { "description": description, "content": content(schema) },
        "default": { "$ref": results::PROBLEM_RESPONSE },
    })
}

fn content(schema: &str) -> Value {
    json!({ "application/json": { "schema": { "$ref": schema } } })
}
