//! The path and the operation of a tool.

use iri_string::percent_encode::PercentEncodedForUri;
use serde_json::{Value, json};

use super::{components::ToolSchemas, results};
use crate::{JsonObject, catalog::Item};

/// The path. Names that differ have paths that differ.
pub(super) fn path(name: &str) -> String {
    format!("/tools/{}", PercentEncodedForUri::from_path_segment(name))
}

/// What a request calls, sends and gets.
pub(super) fn of(item: &Item, schemas: &ToolSchemas) -> Value {
    let mut operation = JsonObject::new();
    let mut member = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            operation.insert(name.to_owned(), value);
        }
    };
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    member("operationId", Some(item.name.as_str().into()));
    member("summary", text(&item.title));
    member("description", text(&item.description));
    member("requestBody", Some(body(&schemas.input)));
    member("responses", Some(responses(schemas.output.as_deref())));
    member("x-mcp-icons", item.meta.icons.clone().map(Value::from));
    member(
        "x-mcp-annotations",
        item.meta.annotations.clone().map(Value::from),
    );
    member("x-mcp-meta", item.meta.meta.clone().map(Value::from));
    let extra = Some(&item.extra).filter(|extra| !extra.is_empty());
    member("x-mcp-extra", extra.cloned().map(Value::from));
    Value::Object(operation)
}

fn body(schema: &str) -> Value {
    json!({ "required": true, "content": content(schema) })
}

fn responses(output: Option<&str>) -> Value {
    let (description, schema) = match output {
        Some(schema) => ("The structured content of the result", schema),
        None => ("The result of the tool", results::TOOL_RESULT),
    };
    json!({
        "200": { "description": description, "content": content(schema) },
        "default": { "$ref": results::PROBLEM_RESPONSE },
    })
}

fn content(schema: &str) -> Value {
    json!({ "application/json": { "schema": { "$ref": schema } } })
}
