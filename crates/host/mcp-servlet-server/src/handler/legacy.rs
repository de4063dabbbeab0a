//! What clients up to 2025-11-25 do not get.

use mcp_servlet_call::JsonObject;
use rmcp::model::ServerCapabilities;
use serde_json::{Value, json};

/// Adapts the schemas of a tool: older versions allow no boolean schemas for properties.
pub(super) fn fit(tool: &mut JsonObject) {
    for key in ["inputSchema", "outputSchema"] {
        if let Some(Value::Object(schema)) = tool.get_mut(key) {
            properties(schema);
        }
    }
}

/// Removes the capabilities that need a session: nothing reaches a client that has none between its requests.
pub(super) fn without_session(capabilities: &mut ServerCapabilities) {
    capabilities.logging = None;
    if let Some(tools) = &mut capabilities.tools {
        tools.list_changed = None;
    }
    if let Some(prompts) = &mut capabilities.prompts {
        prompts.list_changed = None;
    }
    if let Some(resources) = &mut capabilities.resources {
        resources.list_changed = None;
        resources.subscribe = None;
    }
}

/// Replaces `true` and `false` by equivalent object schemas.
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
        let mut tool = object(json!({ "inputSchema": before, "outputSchema": before }));
        fit(&mut tool);
        let expected = json!({ "inputSchema": after, "outputSchema": after });
        assert_eq!(Value::Object(tool), expected);
    }
}
