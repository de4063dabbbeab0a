//! What the schemas of MCP before 2026-07-28 do not allow, taken out for clients of that time.

use serde_json::{Value, json};

use crate::JsonObject;

/// A tool that fits the older schemas: no boolean schemas of properties, no output schema but of an object.
pub(super) fn tool(mut tool: JsonObject) -> JsonObject {
    if let Some(Value::Object(schema)) = tool.get_mut("inputSchema") {
        properties(schema);
    }
    match tool.get_mut("outputSchema") {
        Some(Value::Object(schema)) if is_of_object(schema) => properties(schema),
        Some(_) => {
            tool.shift_remove("outputSchema");
        }
        None => {}
    }
    tool
}

/// A result that fits the older schemas: structured content is an object. The content beside it stays.
pub(super) fn result(mut result: JsonObject) -> JsonObject {
    let structured = result.get("structuredContent");
    if structured.is_some_and(|value| !value.is_object()) {
        result.shift_remove("structuredContent");
    }
    result
}

fn is_of_object(schema: &JsonObject) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// `true` and `false` as schemas that are objects.
fn properties(schema: &mut JsonObject) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for schema in properties.values_mut() {
        match schema {
            Value::Bool(true) => *schema = json!({}),
            Value::Bool(false) => *schema = json!({ "not": {} }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn schemas_of_properties_become_objects() {
        let schema =
            |a: Value, b: Value| json!({ "type": "object", "properties": { "a": a, "b": b } });
        let before = schema(json!(true), json!(false));
        let after = schema(json!({}), json!({ "not": {} }));
        let made = tool(object(
            json!({ "name": "t", "inputSchema": before, "outputSchema": before }),
        ));
        let expected = json!({ "name": "t", "inputSchema": after, "outputSchema": after });
        assert_eq!(Value::Object(made), expected);
    }

    #[test]
    fn output_that_is_no_object_is_left_to_the_content() {
        for schema in [
            json!({ "type": "array" }),
            json!({ "oneOf": [] }),
            json!(true),
        ] {
            let made = tool(object(
                json!({ "inputSchema": { "type": "object" }, "outputSchema": schema }),
            ));
            assert!(!made.contains_key("outputSchema"));
        }
        let before = json!({ "content": [], "structuredContent": [1], "isError": false });
        let after = json!({ "content": [], "isError": false });
        assert_eq!(Value::Object(result(object(before))), after);
        let kept = json!({ "content": [], "structuredContent": { "a": 1 } });
        assert_eq!(Value::Object(result(object(kept.clone()))), kept);
    }
}
