//! Lists, and notifications about changes of lists.

use std::fs;

use e2e::root;
use mcp_servlet_host::Tool;
use serde_json::{Value, json};

use super::{able, clients, path, servlet};
use crate::pipe::{legacy, modern};

#[test]
fn every_tool_has_a_name_a_description_and_a_schema() {
    let sign = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    for tool in servlet().tools() {
        let name = tool.name();
        assert!((1..=128).contains(&name.len()) && name.chars().all(sign));
        assert!(
            tool.description().is_some_and(|text| !text.is_empty()),
            "{name}"
        );
        assert_eq!(tool.input_schema()["type"], "object", "{name}");
    }
}

/// A handwritten schema of the example.
fn by_hand(file: &str) -> Value {
    let path = root().join("examples/everything/src/assets").join(file);
    let text = fs::read_to_string(path).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn schemas_by_hand_reach_clients_word_for_word() {
    let files = [
        ("test_custom_header", "custom-header.json"),
        ("json_schema_2020_12_tool", "schema-2020-12.json"),
    ];
    for pipe in clients(&able()) {
        let list = pipe.ask("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().expect("tools");
        for (name, file) in files {
            let tool = tools.iter().find(|tool| tool["name"] == name);
            assert_eq!(tool.expect(name)["inputSchema"], by_hand(file), "{name}");
        }
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == "test_structured_content");
        let schema = &tool.expect("a tool")["outputSchema"];
        assert_eq!(schema["required"], json!(["temperature", "conditions"]));
    }
}

#[test]
fn the_order_of_tools_is_that_of_the_source_each_time() {
    let names: Vec<_> = servlet().tools().iter().map(Tool::name).collect();
    for pipe in clients(&able()) {
        for _ in 0..2 {
            let list = pipe.ask("tools/list", json!({}));
            let tools = list["result"]["tools"].as_array().expect("tools");
            let listed: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
            assert_eq!(listed, names);
        }
    }
}

#[test]
fn session_begins_with_capabilities_and_answers_pings() {
    let pipe = legacy(&path(), json!({}), &[]);
    let pong = pipe.ask("ping", json!({}));
    assert_eq!(pong["result"], json!({}));
    let pipe = modern(&path(), json!({}));
    let found = pipe.ask("server/discover", json!({}));
    for name in ["tools", "resources", "prompts", "completions", "logging"] {
        let capability = &found["result"]["capabilities"][name];
        assert!(capability.is_object(), "{name} in {found}");
    }
}

#[test]
fn lists_and_resources_say_how_long_they_may_be_kept() {
    let pipe = modern(&path(), json!({}));
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({ "uri": "test://static-text" })),
    ] {
        let response = pipe.ask(method, params);
        let result = &response["result"];
        assert!(result["ttlMs"].is_u64(), "{method}: {response}");
        assert!(result["cacheScope"].is_string(), "{method}: {response}");
        assert_eq!(result["resultType"], "complete", "{method}");
    }
}
