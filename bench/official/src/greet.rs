//! One tool of one string.

use extism_pdk::Error;
use serde_json::json;

use crate::pdk::types::*;

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    match input.params.name.as_str() {
        "greet" => greet(input),
        name => Err(Error::msg(format!("unknown tool: {name}"))),
    }
}

fn greet(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let arguments = input.params.arguments.unwrap_or_default();
    let name = arguments
        .get("name")
        .and_then(|name| name.as_str())
        .ok_or_else(|| Error::msg("argument `name` must be provided"))?;
    Ok(CallToolResult {
        content: vec![Content {
            annotations: None,
            data: None,
            mime_type: None,
            text: Some(format!("Hello, {name}!")),
            r#type: ContentType::Text,
        }],
        is_error: None,
    })
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    Ok(ListToolsResult {
        tools: vec![ToolDescription {
            name: "greet".to_string(),
            description: "A very simple tool to provide a greeting.".to_string(),
            input_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "the name of the person to greet",
                    },
                },
                "required": ["name"],
                "additionalProperties": false,
            }))?,
        }],
    })
}
