//! Greets a person: the smallest servlet.

use mcp_servlet::prelude::*;

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    /// the name of the person to greet
    name: String,
) -> String {
    format!("Hello, {name}!")
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{SERVLET, greet};

    #[test]
    fn greets_by_name() {
        assert_eq!(greet("Ada".to_owned()), "Hello, Ada!");
    }

    #[test]
    fn answers_a_call_with_text() {
        let result = SERVLET.call("greet", json!({ "name": "Ada" })).unwrap();
        assert_eq!(result.text(), "Hello, Ada!");
        assert_eq!(result.is_error, None);
    }

    #[test]
    fn error_names_the_missing_argument() {
        let result = SERVLET.call("greet", json!({})).unwrap();
        assert_eq!(result.is_error, Some(true));
        let text = result.text();
        assert_eq!(
            text,
            "invalid arguments: `/name` is missing; it must match \
             {\"type\":\"string\",\"description\":\"the name of the person to greet\"}\n\
             valid arguments: {\"name\":\"text\"}"
        );
    }

    #[test]
    fn describes_itself_in_both_historic_shapes() {
        let description = SERVLET.client().request("describe", "").unwrap();
        let description: Value = serde_json::from_str(&description).unwrap();
        let tool = json!({
            "name": "greet",
            "description": "A very simple tool to provide a greeting.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "the name of the person to greet" },
                },
                "required": ["name"],
                "additionalProperties": false,
            },
        });
        assert_eq!(description["tools"], json!([tool]));
        assert_eq!(description["name"], tool["name"]);
        assert_eq!(description["inputSchema"], tool["inputSchema"]);
    }

    #[test]
    fn answers_the_request_that_hosts_send() {
        let request = r#"{"params":{"name":"greet","arguments":{"name":"Ada"}}}"#;
        let answer = SERVLET.client().request("call", request).unwrap();
        assert_eq!(
            answer,
            r#"{"content":[{"type":"text","text":"Hello, Ada!"}]}"#
        );
    }
}
