//! Structured content, in the form that the client's protocol version allows.
//!
//! Since 2026-07-28 structured content can be any JSON value, and an output schema any schema.
//! Older versions only allow objects. A servlet may use either form; the server converts it for the
//! client.
//!
//! | type in the servlet's output schema | clients up to 2025-11-25 | clients since 2026-07-28 |
//! |---|---|---|
//! | object | unchanged | unchanged |
//! | any other | wrapped in an object with the property `result` | unchanged |
//! | wrapped by the servlet, as ours do, so that all hosts can pass it on | unchanged | the content of `result` |
//!
//! A wrapped schema has the keyword `x-fastmcp-wrap-result`, a convention that clients know.

use mcp_servlet_call::JsonObject;
use serde_json::{Value, json};

use crate::era::Era;

const MARK: &str = "x-fastmcp-wrap-result";

/// The only property of a wrapped schema and of wrapped content.
const RESULT: &str = "result";

/// Keywords that must stay at the root of a schema.
const OF_THE_ROOT: [&str; 3] = ["$schema", "$defs", "definitions"];

/// Converts the output schema of a tool for clients of an era.
pub(super) fn set_schema(era: Era, tool: &mut JsonObject) {
    let Some(schema) = tool.get_mut("outputSchema") else {
        return;
    };
    match (era, form(schema)) {
        (Era::Modern, Form::Wrapped) => *schema = unwrapped(schema),
        (Era::Legacy, Form::Other) if is_movable(schema) => *schema = wrapped(schema.take()),
        // The schema refers to its own root, so it cannot be wrapped, and older clients know no other form.
        (Era::Legacy, Form::Other) => drop(tool.shift_remove("outputSchema")),
        _ => {}
    }
}

/// Converts structured content to match the schema that [`set_schema`] makes.
pub(super) fn set_content(era: Era, tool: Option<&JsonObject>, result: &mut JsonObject) {
    let Some(content) = result.get_mut("structuredContent") else {
        return;
    };
    let form = match tool.and_then(|tool| tool.get("outputSchema")) {
        Some(schema) => form(schema),
        None if content.is_object() => Form::Object,
        None => Form::Other,
    };
    match (era, form) {
        (Era::Modern, Form::Wrapped) => {
            if let Some(inner) = content.get_mut(RESULT) {
                *content = inner.take();
            }
        }
        (Era::Legacy, Form::Other) => *content = json!({ RESULT: content.take() }),
        _ => {}
    }
}

/// The type of an output schema.
enum Form {
    Object,
    /// An object that wraps the value in `result`.
    Wrapped,
    Other,
}

fn form(schema: &Value) -> Form {
    let is_marked = schema.get(MARK) == Some(&Value::Bool(true));
    match schema.get("type") {
        Some(ty) if ty != "object" => Form::Other,
        None => Form::Other,
        _ if is_marked && is_movable(schema) && inner(schema).is_some() => Form::Wrapped,
        _ => Form::Object,
    }
}

fn inner(schema: &Value) -> Option<&Value> {
    schema.get("properties")?.get(RESULT)
}

fn wrapped(schema: Value) -> Value {
    let mut inner = match schema {
        Value::Object(inner) => inner,
        Value::Bool(false) => return wrapped(json!({ "not": {} })),
        _ => JsonObject::new(),
    };
    let mut outer = JsonObject::new();
    move_root(&mut inner, &mut outer);
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ RESULT: inner }));
    outer.insert("required".to_owned(), json!([RESULT]));
    outer.insert(MARK.to_owned(), true.into());
    Value::Object(outer)
}

fn unwrapped(schema: &mut Value) -> Value {
    let mut inner = inner(schema)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    if let Value::Object(outer) = schema {
        move_root(outer, &mut inner);
    }
    Value::Object(inner)
}

fn move_root(from: &mut JsonObject, to: &mut JsonObject) {
    for key in OF_THE_ROOT {
        if let Some(value) = from.shift_remove(key) {
            to.insert(key.to_owned(), value);
        }
    }
}

/// Whether all references in a schema stay valid when the schema moves and its definitions stay at the root.
fn is_movable(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members
            .iter()
            .all(|(key, value)| match (key.as_str(), value) {
                ("$ref" | "$dynamicRef", Value::String(target)) => {
                    target.starts_with("#/$defs/") || target.starts_with("#/definitions/")
                }
                _ => is_movable(value),
            }),
        Value::Array(items) => items.iter().all(is_movable),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(era: Era, schema: &Value) -> Value {
        let mut tool = JsonObject::from_iter([("outputSchema".to_owned(), schema.clone())]);
        set_schema(era, &mut tool);
        tool.shift_remove("outputSchema").unwrap_or_default()
    }

    fn content(era: Era, schema: Option<&Value>, content: &Value) -> Value {
        let tool = schema.map(|schema| json!({ "outputSchema": schema }));
        let tool = tool.as_ref().and_then(Value::as_object);
        let mut result = JsonObject::from_iter([("structuredContent".to_owned(), content.clone())]);
        set_content(era, tool, &mut result);
        result.shift_remove("structuredContent").unwrap_or_default()
    }

    fn in_result(inner: &Value) -> Value {
        json!({ "type": "object", "properties": { "result": inner }, "required": ["result"], MARK: true })
    }

    #[test]
    fn wraps_other_values_in_an_object_for_older_clients_only() {
        for inner in [
            json!({ "type": "array", "items": { "type": "integer" } }),
            json!({ "type": ["object", "null"] }),
            json!({ "oneOf": [{ "type": "object" }, { "type": "object" }] }),
            json!({}),
        ] {
            let wrapped = in_result(&inner);
            for listed in [&inner, &wrapped] {
                assert_eq!(schema(Era::Legacy, listed), wrapped);
                assert_eq!(schema(Era::Modern, listed), inner);
            }
            for value in [json!([1]), json!({ "a": 1 }), json!(null)] {
                let result = json!({ "result": value });
                for (listed, form) in [(&inner, &value), (&wrapped, &result)] {
                    assert_eq!(content(Era::Legacy, Some(listed), form), result);
                    assert_eq!(content(Era::Modern, Some(listed), form), value);
                }
            }
        }
    }

    #[test]
    fn objects_are_unchanged() {
        let own =
            json!({ "type": "object", "properties": { "result": {} }, "required": ["result"] });
        let value = json!({ "result": 1 });
        for era in [Era::Legacy, Era::Modern] {
            assert_eq!(schema(era, &own), own);
            assert_eq!(content(era, Some(&own), &value), value);
            assert_eq!(content(era, None, &value), value);
        }
        assert_eq!(
            content(Era::Legacy, None, &json!([1])),
            json!({ "result": [1] })
        );
        assert_eq!(content(Era::Modern, None, &json!([1])), json!([1]));
    }

    #[test]
    fn definitions_stay_at_the_root() {
        let list =
            json!({ "$defs": { "A": {} }, "type": "array", "items": { "$ref": "#/$defs/A" } });
        let wrapped = schema(Era::Legacy, &list);
        assert_eq!(wrapped["$defs"], json!({ "A": {} }));
        assert_eq!(
            wrapped["properties"]["result"]["items"],
            json!({ "$ref": "#/$defs/A" })
        );
        assert_eq!(schema(Era::Modern, &wrapped), list);
        let recursive = json!({ "type": "array", "items": { "$ref": "#" } });
        assert_eq!(schema(Era::Legacy, &recursive), Value::Null);
        assert_eq!(schema(Era::Modern, &recursive), recursive);
    }
}
