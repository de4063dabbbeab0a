//! Defines tools of three arguments as an author would: a string, an optional string, an integer.
#![allow(unused_macros, reason = "not every servlet has such tools")]

macro_rules! tools {
    ($($tool:ident $says:literal {
        $text:ident $of_text:literal, $option:ident $of_option:literal, $number:ident $of_number:literal,
    })*) => {
        use extism_pdk::Error;
        use serde_json::json;

        use crate::pdk::types::*;

        pub(crate) fn call(input: CallToolRequest) -> Result<CallToolResult, Error> {
            match input.params.name.as_str() {
                $(stringify!($tool) => $tool(input),)*
                name => Err(Error::msg(format!("unknown tool: {name}"))),
            }
        }

        $(fn $tool(input: CallToolRequest) -> Result<CallToolResult, Error> {
            let arguments = input.params.arguments.unwrap_or_default();
            let $text = arguments
                .get(stringify!($text))
                .and_then(|value| value.as_str())
                .ok_or_else(|| Error::msg(concat!("argument `", stringify!($text), "` must be provided")))?;
            let $option = arguments
                .get(stringify!($option))
                .and_then(|value| value.as_str())
                .unwrap_or_default();
            let $number = arguments
                .get(stringify!($number))
                .and_then(|value| value.as_i64())
                .ok_or_else(|| Error::msg(concat!("argument `", stringify!($number), "` must be provided")))?;
            Ok(CallToolResult {
                content: vec![Content {
                    annotations: None,
                    data: None,
                    mime_type: None,
                    text: Some(format!("{}, {}, {}", $text, $option, $number)),
                    r#type: ContentType::Text,
                }],
                is_error: None,
            })
        })*

        pub(crate) fn describe() -> Result<ListToolsResult, Error> {
            Ok(ListToolsResult {
                tools: vec![$(ToolDescription {
                    name: stringify!($tool).to_string(),
                    description: $says.to_string(),
                    input_schema: serde_json::from_value(json!({
                        "type": "object",
                        "properties": {
                            (stringify!($text)): { "type": "string", "description": $of_text },
                            (stringify!($option)): { "type": "string", "description": $of_option },
                            (stringify!($number)): { "type": "integer", "description": $of_number },
                        },
                        "required": [stringify!($text), stringify!($number)],
                        "additionalProperties": false,
                    }))?,
                }),*],
            })
        }
    };
}
