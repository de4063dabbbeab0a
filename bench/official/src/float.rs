//! One tool of two floats.

use extism_pdk::Error;
use serde_json::json;

use crate::pdk::types::*;

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    match input.params.name.as_str() {
        "add" => add(input),
        name => Err(Error::msg(format!("unknown tool: {name}"))),
    }
}

fn add(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let arguments = input.params.arguments.unwrap_or_default();
    let a = arguments
        .get("a")
        .and_then(|a| a.as_f64())
        .ok_or_else(|| Error::msg("argument `a` must be provided"))?;
    let b = arguments
        .get("b")
        .and_then(|b| b.as_f64())
        .ok_or_else(|| Error::msg("argument `b` must be provided"))?;
    Ok(CallToolResult {
        content: vec![Content {
            annotations: None,
            data: None,
            mime_type: None,
            text: Some((a + b).to_string()),
            r#type: ContentType::Text,
        }],
        is_error: None,
    })
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    Ok(ListToolsResult {
        tools: vec![ToolDescription {
            name: "add".to_string(),
            description: "Adds two numbers.".to_string(),
            input_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": {
                    "a": { "type": "number", "description": "left operand" },
                    "b": { "type": "number", "description": "right operand" },
                },
                "required": ["a", "b"],
                "additionalProperties": false,
            }))?,
        }],
    })
}
