//! One tool of one struct.

use extism_pdk::Error;
use serde::Deserialize;
use serde_json::{json, Value};

use crate::pdk::types::*;

#[derive(Deserialize)]
struct Order {
    customer: String,
    items: Vec<Item>,
    note: Option<String>,
    express: bool,
}

#[derive(Deserialize)]
struct Item {
    article: String,
    quantity: u32,
}

pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
    match input.params.name.as_str() {
        "order" => order(input),
        name => Err(Error::msg(format!("unknown tool: {name}"))),
    }
}

fn order(input: CallToolRequest) -> Result<CallToolResult, Error> {
    let arguments = input.params.arguments.unwrap_or_default();
    let order: Order = serde_json::from_value(Value::Object(arguments))?;
    let mut text = format!("For {}:", order.customer);
    for item in &order.items {
        text += &format!(" {} × {}", item.quantity, item.article);
    }
    if let Some(note) = order.note {
        text += &format!(" ({note})");
    }
    if order.express {
        text += ", express";
    }
    Ok(CallToolResult {
        content: vec![Content {
            annotations: None,
            data: None,
            mime_type: None,
            text: Some(text),
            r#type: ContentType::Text,
        }],
        is_error: None,
    })
}

pub(crate) fn describe() -> Result<ListToolsResult, Error> {
    Ok(ListToolsResult {
        tools: vec![ToolDescription {
            name: "order".to_string(),
            description: "Places an order.".to_string(),
            input_schema: serde_json::from_value(json!({
                "type": "object",
                "properties": {
                    "customer": { "type": "string", "description": "who orders" },
                    "items": {
                        "type": "array",
                        "description": "what is ordered",
                        "items": {
                            "type": "object",
                            "properties": {
                                "article": { "type": "string", "description": "the name of the article" },
                                "quantity": {
                                    "type": "integer",
                                    "description": "how many of it",
                                    "minimum": 0,
                                    "maximum": u32::MAX,
                                },
                            },
                            "required": ["article", "quantity"],
                        },
                    },
                    "note": { "type": "string", "description": "what else to know" },
                    "express": { "type": "boolean", "description": "whether it is urgent" },
                },
                "required": ["customer", "items", "express"],
                "additionalProperties": false,
            }))?,
        }],
    })
}
