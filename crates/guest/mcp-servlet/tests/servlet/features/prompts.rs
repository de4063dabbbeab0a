//! Prompts: their descriptions, their arguments from strings, and their messages.

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

/// Asks for a review of code.
#[prompt(title = "Review", meta = [mcp_servlet::Meta::string("icon", "x")])]
fn review(
    /// the code to review
    code: String,
    /// from 1 to 3
    #[arg(default = 2, min = 1, max = 3)]
    level: u8,
    tags: Option<Vec<String>>,
) -> String {
    format!("{code} {level} {}", tags.unwrap_or_default().join("+"))
}

#[prompt(name = "small-talk")]
fn small_talk() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user("Hello"),
        PromptMessage::assistant("Hello, what can I do for you?"),
        PromptMessage::user(Content::image(b"png", "image/png")),
        PromptMessage::user(Content::resource(ResourceContents::text("x://1", "one"))),
    ]
}

#[prompt]
fn described(name: String) -> Result<PromptResult, ToolError> {
    if name.is_empty() {
        return Err(ToolError::new("there is no name").with_code("nameless"));
    }
    let result = PromptResult::new(vec![PromptMessage::user(&*name)]);
    Ok(result.with_description(format!("about {name}")))
}

mcp_servlet::export!(static SERVLET = { prompts: [review, small_talk, described] });

fn get(name: &str, arguments: Value) -> Result<Value, Fault> {
    let result = SERVLET.client().get_prompt(name, arguments)?;
    Ok(serde_json::to_value(result).unwrap())
}

fn text(arguments: Value) -> String {
    let result = get("review", arguments).unwrap();
    result["messages"][0]["content"]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn lists_prompts_with_their_arguments() {
    let list = serde_json::to_value(SERVLET.client().list_prompts().unwrap()).unwrap();
    assert_eq!(
        list,
        json!([
            {
                "name": "review",
                "title": "Review",
                "description": "Asks for a review of code.",
                "arguments": [
                    { "name": "code", "description": "the code to review", "required": true },
                    { "name": "level", "description": "from 1 to 3" },
                    { "name": "tags" },
                ],
                "_meta": { "icon": "x" },
            },
            { "name": "small-talk", "description": "small-talk" },
            {
                "name": "described",
                "description": "described",
                "arguments": [{ "name": "name", "required": true }],
            },
        ])
    );
}

#[test]
fn strings_are_parsed_as_the_types_of_parameters() {
    for (arguments, expected) in [
        (json!({ "code": "a" }), "a 2 "),
        (json!({ "code": "7", "level": "3" }), "7 3 "),
        (json!({ "code": "\"q\"\n{", "level": "1" }), "\"q\"\n{ 1 "),
        (json!({ "code": "a", "tags": "[\"x\", \"y\"]" }), "a 2 x+y"),
        (json!({ "code": "a", "level": 3, "tags": ["x"] }), "a 3 x"),
        (json!({ "code": "a", "level": null }), "a 2 "),
        (json!({ "code": "a", "level": "3.0" }), "a 3 "),
        (json!({ "code": "a", "level": 10e-1 }), "a 1 "),
        (json!({ "code": 5 }), "5 2 "),
        (json!({ "code": ["a"] }), "[\"a\"] 2 "),
    ] {
        assert_eq!(text(arguments.clone()), expected, "{arguments}");
    }
}

#[derive(Debug, Deserialize, Schema)]
enum Language {
    Rust,
    #[serde(other)]
    Other,
}

#[prompt]
fn translate(language: Language) -> String {
    format!("{language:?}")
}

mcp_servlet::export!(static TRANSLATOR = { prompts: [translate] });

#[test]
fn an_open_enum_takes_text_that_looks_like_json() {
    for (language, expected) in [("Rust", "Rust"), ("7", "Other"), ("{}", "Other")] {
        let arguments = json!({ "language": language });
        let result = TRANSLATOR.client().get_prompt("translate", arguments);
        let result = serde_json::to_value(result.unwrap()).unwrap();
        assert_eq!(result["messages"][0]["content"]["text"], expected);
    }
}

#[test]
fn messages_may_be_of_both_sides_and_hold_any_content() {
    let result = get("small-talk", json!({})).unwrap();
    let message = |role: &str, content: Value| json!({ "role": role, "content": content });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": "cG5n", "mimeType": "image/png" });
    let resource = json!({ "type": "resource", "resource": { "uri": "x://1", "text": "one" } });
    assert_eq!(
        result,
        json!({ "messages": [
            message("user", text("Hello")),
            message("assistant", text("Hello, what can I do for you?")),
            message("user", image),
            message("user", resource),
        ] })
    );
    let result = get("described", json!({ "name": "Ada" })).unwrap();
    assert_eq!(result["description"], "about Ada");
}

#[test]
fn explains_invalid_arguments_with_their_schema() {
    for (prompt, arguments, message) in [
        (
            "review",
            json!({}),
            "invalid arguments: `/code` is missing; it must match {\"type\":\"string\",\"description\":\"the code to review\"}",
        ),
        (
            "review",
            json!({ "code": "a", "level": "two" }),
            "invalid arguments: `/level` must match {\"type\":\"integer\",\"description\":\"from 1 to 3\",\"minimum\":1,\"maximum\":3,\"default\":2}, got \"two\"",
        ),
        (
            "review",
            json!({ "code": "a", "level": "1,\"tags\":[]" }),
            "invalid arguments: `/level` must match {\"type\":\"integer\",\"description\":\"from 1 to 3\",\"minimum\":1,\"maximum\":3,\"default\":2}, got \"1,\\\"tags\\\":[]\"",
        ),
        (
            "review",
            json!({ "code": "a", "tags": "[1]" }),
            "invalid arguments: `/tags/0` must match {\"type\":\"string\"}, got 1",
        ),
        (
            "review",
            json!({ "cod": "a" }),
            "invalid arguments: `/cod` is unknown; known are `code`, `level`, `tags`",
        ),
        (
            "revue",
            json!({}),
            "unknown prompt `revue`; this servlet has `review`, `small-talk`, `described`",
        ),
    ] {
        let fault = get(prompt, arguments.clone()).unwrap_err();
        assert_eq!(fault.message(), message, "{arguments}");
        assert_eq!(fault.code(), Fault::INVALID_PARAMS);
    }
    let fault = get("described", json!({ "name": "" })).unwrap_err();
    let expected = (Fault::INTERNAL_ERROR, "there is no name");
    assert_eq!((fault.code(), fault.message()), expected);
    let data = fault.data().map(RawJson::get);
    assert_eq!(data, Some(r#"{"code":"nameless"}"#));
}
