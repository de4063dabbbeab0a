//! Recognizes the schema of MCP servlets.

use serde_json::Value;

/// The exports that a servlet can have.
const EXPORTS: [&str; 8] = [
    "call",
    "complete",
    "describe",
    "get_prompt",
    "list_prompts",
    "list_resource_templates",
    "list_resources",
    "read_resource",
];

/// Whether a schema, as JSON, is one of MCP servlets: it has `call` and `describe` with their
/// types, and no exports or imports that servlets do not have.
///
/// Servlets need no generated code, because the SDK has macros for them.
pub fn is_servlet_schema(schema: &Value) -> bool {
    const DESCRIPTIONS: [&str; 3] = ["ToolDescription", "ListToolsResult", "ServletDescription"];
    let exports = &schema["exports"];
    let refers = |export: &str, side: &str, names: &[&str]| {
        let reference = exports[export][side]["$ref"].as_str();
        let name = reference.and_then(|text| text.strip_prefix("#/components/schemas/"));
        name.is_some_and(|name| names.contains(&name))
    };
    let mut names = exports.as_object().into_iter().flat_map(|map| map.keys());
    let imports = schema["imports"].as_object();
    refers("call", "input", &["CallToolRequest"])
        && refers("call", "output", &["CallToolResult"])
        && refers("describe", "output", &DESCRIPTIONS)
        && names.all(|name| EXPORTS.contains(&name.as_str()))
        && imports.is_none_or(serde_json::Map::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_with_more_than_servlets_have_is_another_interface() {
        let refer = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        let mut schema = json!({
            "exports": {
                "call": {"input": refer("CallToolRequest"), "output": refer("CallToolResult")},
                "describe": {"output": refer("ListToolsResult")},
                "complete": {},
            },
            "imports": {},
        });
        assert!(is_servlet_schema(&schema));
        let mut more = schema.clone();
        more["exports"]["refund"] = json!({});
        assert!(!is_servlet_schema(&more));
        schema["imports"]["weigh"] = json!({});
        assert!(!is_servlet_schema(&schema));
    }
}
