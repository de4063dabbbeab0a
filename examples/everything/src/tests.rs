//! What each fixture must do, natively.

use mcp_servlet::testing::TestContext;
use serde_json::{Value, json};

use super::SERVLET;

fn call(context: &TestContext, tool: &str, arguments: Value) -> String {
    let result = SERVLET
        .call_with(context, tool, arguments)
        .expect("a result");
    result.content[0].text.clone().expect("text")
}

#[test]
fn content_has_the_kinds_that_its_tool_says() {
    for (tool, kinds) in [
        ("test_simple_text", &["text"][..]),
        ("test_image_content", &["image"]),
        ("test_audio_content", &["audio"]),
        ("test_embedded_resource", &["resource"]),
        (
            "test_multiple_content_types",
            &["text", "image", "resource"],
        ),
        ("test_resource_link", &["resource_link"]),
    ] {
        let result = SERVLET.call(tool, json!({})).expect("a result");
        let content = serde_json::to_value(result.content).expect("JSON");
        let found: Vec<_> = content
            .as_array()
            .expect("blocks")
            .iter()
            .map(|block| &block["type"])
            .collect();
        assert_eq!(found, kinds, "{tool}");
    }
}

#[test]
fn a_failure_is_for_the_model() {
    let result = SERVLET
        .call("test_error_handling", json!({}))
        .expect("a result");
    assert_eq!(result.is_error, Some(true));
}

#[test]
fn questions_are_answered_in_as_many_rounds_as_it_takes() {
    let context = TestContext::new()
        .with_form("step1", json!({ "name": "Ada" }))
        .with_form("step2", json!({ "color": "blue" }))
        .with_form("user_name", json!({ "name": "Ada" }))
        .with_form("confirm", json!({ "ok": true }));
    for (tool, text) in [
        ("test_input_required_result_multi_round", "Ada likes blue"),
        ("test_input_required_result_elicitation", "Hello, Ada!"),
        (
            "test_input_required_result_request_state",
            "state-ok, confirmed: true",
        ),
    ] {
        assert_eq!(call(&context, tool, json!({})), text);
    }
}

#[test]
fn resources_are_at_their_addresses() {
    let read = |uri: &str| {
        SERVLET
            .read_resource(uri)
            .map(|result| result.contents[0].clone())
    };
    let text = read("test://static-text").expect("a resource");
    assert_eq!(text.mime_type.as_deref(), Some("text/plain"));
    assert!(
        read("test://static-binary")
            .expect("a resource")
            .blob
            .is_some()
    );
    let data = read("test://template/123/data").expect("a resource");
    assert_eq!(
        data.text.as_deref(),
        Some(r#"{"id":"123","data":"Data of 123"}"#)
    );
    assert!(read("test://nothing").is_err());
}

#[test]
fn prompts_take_their_arguments() {
    let arguments = json!({ "arg1": "a", "arg2": "b" });
    let result = SERVLET
        .get_prompt("test_prompt_with_arguments", arguments)
        .expect("a prompt");
    let text = result.messages[0].content.text.as_deref();
    assert_eq!(text, Some("The first is a, the second is b."));
    let words = SERVLET.complete_prompt("test_prompt_with_arguments", "arg1", "test");
    assert_eq!(words.expect("suggestions").values, ["test", "testimony"]);
}
