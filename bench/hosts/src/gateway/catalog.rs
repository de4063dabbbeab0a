//! The catalog of a large server.

use serde_json::{Value, json};

/// The lists of a server with this many tools. Each takes an object with a list of objects and with a choice of two forms, and
/// returns a list.
pub(super) fn of_tools(count: usize) -> Value {
    let tools: Vec<_> = (0..count).map(tool).collect();
    json!({
        "protocol": "2025-11-25",
        "server": { "info": { "name": "large", "version": "1.0.0" }, "capabilities": { "tools": {} } },
        "tools": tools,
    })
}

fn tool(number: usize) -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let form = |kind: &str| {
        json!({
            "type": "object",
            "properties": { "kind": { "const": kind }, "value": text("what to look for") },
            "required": ["kind", "value"],
        })
    };
    let label = json!({
        "type": "object",
        "properties": { "name": text("its name"), "color": text("six hexadecimal digits") },
        "required": ["name"],
    });
    json!({
        "name": format!("update_issue_{number}"),
        "description": "Changes an issue. Arguments that are left out change nothing.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "project": text("the name of the project"),
                "number": { "type": "integer", "minimum": 1 },
                "title": text("the new title"),
                "state": { "enum": ["open", "closed", "all"] },
                "labels": { "type": "array", "items": label },
                "find": { "oneOf": [form("text"), form("author")] },
                "is_locked": { "type": "boolean" },
            },
            "required": ["project", "number"],
        },
        "outputSchema": {
            "type": "object",
            "properties": { "total": { "type": "integer" }, "labels": { "type": "array", "items": label } },
            "required": ["total"],
        },
    })
}
