//! Long texts in parts.

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::calls::text;

/// Says a word again and again.
#[tool(parts = 10)]
fn repeat(word: String, #[arg(default = 3)] times: usize) -> Result<String, ToolError> {
    match times {
        0 => Err(ToolError::new("nothing to say")),
        _ => Ok(word.repeat(times)),
    }
}

mcp_servlet::export!(static SERVLET = { tools: [repeat] });

fn say(arguments: &Value) -> String {
    text(&SERVLET, "repeat", arguments).unwrap()
}

fn refuse(arguments: &Value) -> String {
    text(&SERVLET, "repeat", arguments).unwrap_err()
}

#[test]
fn call_returns_the_requested_part() {
    assert_eq!(say(&json!({ "word": "abc" })), "abcabcabc");
    assert_eq!(
        say(&json!({ "word": "äbc", "times": 4 })),
        "äbcäbcäbcä\n\n[10 of 12 characters: go on with `start_index` 10]"
    );
    let rest = json!({ "word": "abc", "times": 4, "start_index": 10, "max_length": null });
    assert_eq!(say(&rest), "bc");
    let short = json!({ "word": "abc", "max_length": 2, "start_index": 7 });
    assert_eq!(say(&short), "bc");
}

#[test]
fn explains_invalid_arguments() {
    for (arguments, says) in [
        (
            json!({ "word": "a", "start_index": 3 }),
            "there are only 3 characters, so nothing begins at 3",
        ),
        (json!({ "word": "a", "times": 0 }), "nothing to say"),
        (
            json!({ "word": "a", "times": 0, "max_length": 0 }),
            "`/max_length` must match",
        ),
        (
            json!({ "word": "a", "start_index": -1 }),
            "`/start_index` must match",
        ),
    ] {
        let message = refuse(&arguments);
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn the_schema_has_both_arguments_after_those_of_the_function() {
    let description: Value =
        serde_json::from_str(&SERVLET.client().request("describe", "").unwrap()).unwrap();
    let schema = &description["tools"][0]["inputSchema"];
    let properties = schema["properties"].as_object().unwrap();
    let names: Vec<_> = properties.keys().map(String::as_str).collect();
    assert!(
        names.contains(&"max_length") && names.contains(&"start_index"),
        "{names:?}"
    );
    assert_eq!(properties["max_length"]["default"], 10);
    assert_eq!(properties["max_length"]["minimum"], 1);
    assert_eq!(properties["start_index"]["default"], 0);
    assert_eq!(schema["required"], json!(["word"]));
    let tail = &SERVLET.client().request("describe", "").unwrap();
    assert!(tail.find("\"times\"") < tail.find("\"max_length\""));
}
