//! Tests of each feature: `cargo test` runs them natively, `servlet test` against the wasm module.

use mcp_servlet::testing::Client;
use serde_json::{Value, json};

fn text(client: &Client, tool: &str, arguments: Value) -> String {
    let result = client.call(tool, arguments).expect("a result");
    result.text()
}

#[mcp_servlet::test]
fn content_has_the_kinds_that_its_tool_says(client: &Client) {
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
        let result = client.call(tool, json!({})).expect("a result");
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

#[mcp_servlet::test]
fn a_failure_is_for_the_model(client: &Client) {
    let result = client
        .call("test_error_handling", json!({}))
        .expect("a result");
    assert_eq!(result.is_error, Some(true));
}

#[mcp_servlet::test]
fn questions_are_answered_in_as_many_rounds_as_it_takes(client: &Client) {
    let client = client
        .with_form("step1", json!({ "name": "Ada" }))
        .with_form("step2", json!({ "color": "blue" }))
        .with_form("user_name", json!({ "name": "Ada" }))
        .with_form("confirm", json!({ "ok": true }))
        .with_sample("greeting", "Good day")
        .with_roots("client_roots", ["file:///home/ada", "file:///srv"]);
    for (tool, says) in [
        ("test_input_required_result_multi_round", "Ada likes blue"),
        ("test_input_required_result_elicitation", "Hello, Ada!"),
        (
            "test_input_required_result_request_state",
            "state-ok, confirmed: true",
        ),
        (
            "test_input_required_result_multiple_inputs",
            "Ada: Good day, 2 roots",
        ),
        (
            "test_input_required_result_list_roots",
            "The roots are: file:///home/ada, file:///srv",
        ),
    ] {
        assert_eq!(text(&client, tool, json!({})), says);
    }
    let asked = client.input_requests();
    let keys: Vec<_> = asked.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys[..2], ["step1", "step2"]);
    assert!(asked[0].1.get().contains("what is your name?"));
}

#[mcp_servlet::test]
fn declining_is_a_response(client: &Client) {
    let arguments = json!({ "message": "Who is there?" });
    let declined = client.with_declined_form("user");
    assert_eq!(
        text(&declined, "test_elicitation", arguments.clone()),
        "declined"
    );
    let cancelled = client.with_cancelled_form("user");
    assert_eq!(text(&cancelled, "test_elicitation", arguments), "cancelled");
}

#[mcp_servlet::test]
fn a_client_is_asked_what_it_can_answer(client: &Client) {
    let client = client
        .with_capabilities(&["sampling"])
        .with_sample("capital_question", "Paris");
    let tool = "test_input_required_result_capabilities";
    assert_eq!(text(&client, tool, json!({})), "answers: Paris");
    let fault = client
        .with_capabilities(&[])
        .call("test_missing_capability", json!({}))
        .expect_err("a fault");
    assert_eq!(fault.code(), -32021);
}

#[mcp_servlet::test]
fn clients_hear_how_far_a_tool_is_and_what_it_logs(client: &Client) {
    let client = client.with_meta("progressToken", "p");
    text(&client, "test_tool_with_progress", json!({}));
    let steps = client.progress();
    assert_eq!(steps.len(), 3);
    let step: Value = serde_json::from_str(steps[1].get()).expect("JSON");
    assert_eq!(step["progress"], 50);
    text(&client, "test_tool_with_logging", json!({}));
    assert_eq!(client.client_logs().len(), 3);
}

#[mcp_servlet::test]
fn resources_are_at_their_addresses(client: &Client) {
    let read = |uri: &str| {
        client
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

#[mcp_servlet::test]
fn prompts_take_their_arguments(client: &Client) {
    let arguments = json!({ "arg1": "a", "arg2": "b" });
    let result = client
        .get_prompt("test_prompt_with_arguments", arguments)
        .expect("a prompt");
    let text = result.messages[0].content.as_text();
    assert_eq!(text, Some("The first is a, the second is b."));
    let words = client.complete_prompt("test_prompt_with_arguments", "arg1", "test");
    assert_eq!(words.expect("suggestions").values, ["test", "testimony"]);
}

#[mcp_servlet::test]
fn a_prompt_asks_as_a_tool_does(client: &Client) {
    let client = client.with_form("user_context", json!({ "context": "rain" }));
    let prompt = client.get_prompt("test_input_required_result_prompt", json!({}));
    let prompt = prompt.expect("a prompt");
    let text = prompt.messages[0].content.as_text();
    assert_eq!(text, Some("The situation is: rain."));
}
