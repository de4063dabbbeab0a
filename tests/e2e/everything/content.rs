//! Tools that answer at once: every kind of content, structured data, an error.

use mcp_servlet_host::CallToolResult;
use mcp_servlet_runtime::block_on;
use serde_json::{Value, json};

use super::servlet;
use crate::support::{object, text};

/// The results of tools that are called without arguments.
fn call(tool: &str) -> CallToolResult {
    let result = block_on(servlet().call(tool, None));
    result.unwrap_or_else(|error| panic!("{tool}: {error}"))
}

/// The blocks of a tool that succeeds.
fn content(tool: &str) -> Value {
    let result = call(tool);
    assert!(!result.is_error(), "{tool}");
    result.json()["content"].clone()
}

/// Checks that a block is a file of this kind in base64, by its first bytes.
fn assert_file(block: &Value, kind: &str, mime_type: &str, start: &str) {
    assert_eq!(block["type"], kind);
    assert_eq!(block["mimeType"], mime_type);
    let data = block["data"].as_str().expect("data");
    assert!(
        data.starts_with(start) && data.len().is_multiple_of(4),
        "{data}"
    );
}

#[test]
fn text_images_and_sound_have_their_types() {
    for tool in ["test_simple_text", "test_reconnection"] {
        assert!(!text(&call(tool)).is_empty(), "{tool}");
    }
    let image = content("test_image_content");
    assert_file(&image[0], "image", "image/png", "iVBORw0KGgo");
    let audio = content("test_audio_content");
    assert_file(&audio[0], "audio", "audio/wav", "UklGR");
}

#[test]
fn results_can_embed_and_link_resources() {
    let resource = json!({
        "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This text is embedded.",
    });
    let embedded = json!([{ "type": "resource", "resource": resource }]);
    assert_eq!(content("test_embedded_resource"), embedded);

    let mixed = content("test_multiple_content_types");
    assert_eq!(mixed.as_array().map(Vec::len), Some(3));
    assert_eq!(mixed[0]["type"], "text");
    assert_file(&mixed[1], "image", "image/png", "iVBORw0KGgo");
    let resource = &mixed[2]["resource"];
    assert_eq!(resource["uri"], "test://mixed-content-resource");
    assert_eq!(resource["mimeType"], "application/json");
    let data = resource["text"].as_str().expect("text");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data, json!({ "test": "data", "value": 123 }));

    let link = json!([{
        "type": "resource_link", "uri": "test://static-text", "name": "static-text",
        "mimeType": "text/plain", "annotations": { "audience": ["user"], "priority": 0.5 },
    }]);
    assert_eq!(content("test_resource_link"), link);
}

#[test]
fn structured_content_comes_with_text() {
    let result = call("test_structured_content");
    let data = json!({ "temperature": 21.5, "conditions": "clear" });
    assert_eq!(result.structured_content(), Some(&data));
    let same: Value = serde_json::from_str(text(&result)).expect("JSON");
    assert_eq!(same, data);
}

#[test]
fn failure_is_a_result_with_its_error() {
    let result = call("test_error_handling");
    assert!(result.is_error());
    assert_eq!(text(&result), "This tool never succeeds.");
}

#[test]
fn arguments_of_schemas_by_hand_arrive() {
    let call = |tool, arguments: Value| {
        let result = block_on(servlet().call(tool, Some(object(&arguments))));
        text(&result.expect("a result")).to_owned()
    };
    let value = call("test_custom_header", json!({ "value": "of a header" }));
    assert_eq!(value, "of a header");
    let person = json!({ "name": "Ada", "contactMethod": "phone", "phone": "1" });
    let about = call("json_schema_2020_12_tool", person);
    assert_eq!(about, "This is about Ada.");
    let person = json!({ "name": "Ada", "contactMethod": "phone", "email": "a@b.c" });
    let refused = call("json_schema_2020_12_tool", person);
    assert!(refused.contains("`/phone` is missing"), "{refused}");
}
