//! Resources, prompts and completion.

use mcp_servlet_runtime::block_on;
use serde_json::{Value, json};

use super::{clients, path, servlet};
use crate::pipe::legacy;
use crate::support::object;

fn read(uri: &str) -> Value {
    let read = block_on(servlet().read_resource(uri));
    let read = read.unwrap_or_else(|error| panic!("{uri}: {error}"));
    read.json()["contents"].clone()
}

#[test]
fn resources_are_listed_with_uri_and_name() {
    let all = servlet().resources().iter();
    let all: Vec<_> = all.map(|entry| (entry.key(), entry.name())).collect();
    assert_eq!(
        all,
        [
            ("test://static-text", Some("static_text")),
            ("test://static-binary", Some("static_binary")),
            ("test://watched-resource", Some("watched_resource")),
        ]
    );
    let templates = servlet().resource_templates().iter();
    let templates: Vec<_> = templates.map(|entry| (entry.key(), entry.name())).collect();
    assert_eq!(templates, [("test://template/{id}/data", Some("template"))]);
}

#[test]
fn resources_are_read_by_uri_and_by_template() {
    let text = "This is the text of a resource.";
    let uri = "test://static-text";
    let contents = json!([{ "uri": uri, "mimeType": "text/plain", "text": text }]);
    assert_eq!(read(uri), contents);

    let uri = "test://static-binary";
    let contents = &read(uri)[0];
    assert_eq!(contents["uri"], uri);
    assert_eq!(contents["mimeType"], "image/png");
    let blob = contents["blob"].as_str().expect("a blob");
    assert!(blob.starts_with("iVBORw0KGgo"), "{blob}");

    let contents = &read("test://template/123/data")[0];
    assert_eq!(contents["uri"], "test://template/123/data");
    let data = contents["text"].as_str().expect("text");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data, json!({ "id": "123", "data": "Data of 123" }));
}

#[test]
fn an_unknown_resource_is_an_error_with_its_uri() {
    let uri = "test://nonexistent";
    for (pipe, code) in clients(&json!({})).into_iter().zip([-32002, -32602]) {
        let response = pipe.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(response["error"]["code"], code, "{response}");
        assert_eq!(response["error"]["data"], json!({ "uri": uri }));
    }
}

#[test]
fn sessions_can_watch_a_resource_and_stop_that() {
    let pipe = legacy(&path(), json!({}), &[]);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let response = pipe.ask(method, json!({ "uri": "test://watched-resource" }));
        assert_eq!(response["result"], json!({}), "{method}: {response}");
    }
}

#[test]
fn every_prompt_has_a_description_and_arguments() {
    for prompt in servlet().prompts() {
        let key = prompt.key();
        assert!(
            prompt.description().is_some_and(|text| !text.is_empty()),
            "{key}"
        );
    }
    let mut prompts = servlet().prompts().iter();
    let with_arguments = prompts.find(|entry| entry.key() == "test_prompt_with_arguments");
    let arguments = &with_arguments.expect("a prompt").json()["arguments"];
    assert_eq!(
        *arguments,
        json!([
            { "name": "arg1", "description": "what to say first", "required": true },
            { "name": "arg2", "description": "what to say then" },
        ])
    );
}

fn messages(prompt: &str, arguments: &Value) -> Value {
    let filled = block_on(servlet().get_prompt(prompt, Some(object(arguments))));
    let filled = filled.unwrap_or_else(|error| panic!("{prompt}: {error}"));
    filled.json()["messages"].clone()
}

#[test]
fn prompts_are_filled_in_with_any_content() {
    let simple = messages("test_simple_prompt", &json!({}));
    let text = json!({ "type": "text", "text": "This is a simple prompt." });
    assert_eq!(simple, json!([{ "role": "user", "content": text }]));

    let arguments = json!({ "arg1": "one", "arg2": "two" });
    let both = messages("test_prompt_with_arguments", &arguments);
    let text = "The first is one, the second is two.";
    assert_eq!(both[0]["content"]["text"], text);

    let arguments = json!({ "resourceUri": "test://example" });
    let embedded = messages("test_prompt_with_embedded_resource", &arguments);
    assert_eq!(embedded[0]["content"]["type"], "resource");
    assert_eq!(embedded[0]["content"]["resource"]["uri"], "test://example");

    let image = messages("test_prompt_with_image", &json!({}));
    assert_eq!(image[0]["content"]["type"], "image");
    assert_eq!(image[0]["content"]["mimeType"], "image/png");
}

#[test]
fn values_are_suggested_for_prompts_and_templates() {
    let suggested = |reference: Value, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        let params = json!({ "ref": reference, "argument": argument });
        let suggested = block_on(servlet().complete(object(&params))).expect("suggestions");
        suggested.json()["completion"]["values"].clone()
    };
    let prompt = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
    assert_eq!(suggested(prompt.clone(), "arg1", "par"), json!(["party"]));
    assert_eq!(suggested(prompt, "arg2", ""), json!([]));
    let template = json!({ "type": "ref/resource", "uri": "test://template/{id}/data" });
    assert_eq!(suggested(template, "id", "12"), json!(["123", "124"]));
}
