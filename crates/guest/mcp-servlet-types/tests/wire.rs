//! Reads JSON that other implementations write into the types, and writes it again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use mcp_servlet_types::{
    CallToolRequest, CallToolResult, CompleteRequest, CompleteResult, Content, ContentType,
    GetPromptRequest, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, RawJson, ReadResourceRequest, ReadResourceResult, ServletDescription,
    ToolDescription,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Checks that everything that is read is written again.
fn keeps<T: Serialize + DeserializeOwned>(value: &Value) {
    assert_eq!(written(&read::<T>(value)), *value);
}

/// A tool with every field that MCP defines.
fn tool() -> Value {
    json!({
        "name": "add",
        "title": "Add",
        "description": "Adds two numbers.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}},
        "outputSchema": {"type": "object"},
        "annotations": {
            "title": "Add",
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
        "icons": [{
            "src": "https://example.org/a.png",
            "mimeType": "image/png",
            "sizes": ["48x48", "any"],
            "theme": "dark",
        }],
        "_meta": {"example.org/key": [1, null]},
    })
}

#[test]
fn keeps_every_kind_of_content() {
    keeps::<CallToolResult>(&json!({
        "content": [
            {
                "type": "text",
                "text": "Hello",
                "annotations": {
                    "audience": ["user", "assistant"],
                    "priority": 0.5,
                    "lastModified": "2026-01-02T03:04:05Z",
                },
                "_meta": {"a": 1},
            },
            {"type": "image", "data": "AAH/", "mimeType": "image/png"},
            {"type": "audio", "data": "AAH/", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "x"}},
            {"type": "resource", "resource": {"uri": "a://c", "blob": "AAH/", "_meta": {}}},
            {
                "type": "resource_link",
                "uri": "a://d",
                "name": "d",
                "title": "D",
                "description": "The fourth.",
                "mimeType": "text/plain",
                "size": 4096,
                "icons": [{"src": "data:image/png;base64,AAH/"}],
            },
        ],
        "structuredContent": {"sum": 3},
        "isError": false,
        "_meta": {"b": "c"},
    }));
}

#[test]
fn views_are_empty_for_another_kind() {
    let text = Content::text("hi");
    assert_eq!((text.as_text(), text.as_image()), (Some("hi"), None));
    let image = Content::image(b"\x89PNG", "image/png");
    assert_eq!(image.as_image(), Some(("iVBORw==", "image/png")));
    assert_eq!((image.as_audio(), image.as_text()), (None, None));
    let audio = Content::audio(b"RIFF", "audio/wav");
    assert_eq!(audio.as_audio(), Some(("UklGRg==", "audio/wav")));
    let resource = Content::text_resource("a://b", "c");
    let contents = resource.as_resource().expect("a resource");
    assert_eq!(contents.text.as_deref(), Some("c"));
    let link = Content::resource_link("a://b", "b");
    assert_eq!(link.as_resource_link(), Some(("a://b", "b")));
    assert_eq!(link.as_resource(), None);
}

#[test]
fn keeps_structured_content_of_any_kind() {
    for structured in [json!(null), json!([1]), json!("x"), json!({"a": null})] {
        keeps::<CallToolResult>(&json!({"content": [], "structuredContent": structured}));
    }
    keeps::<CallToolResult>(&json!({"content": []}));
}

#[test]
fn reads_a_description_of_one_tool() {
    keeps::<ServletDescription>(&tool());
    let one: ServletDescription = read(&tool());
    assert_eq!(one.name.as_deref(), Some("add"));
    assert_eq!(one.tools, None);
}

#[test]
fn reads_a_description_of_several_tools() {
    let plain = json!({"name": "b", "description": "B.", "inputSchema": {"type": "object"}});
    let several = json!({
        "tools": [tool(), plain],
        "serverInfo": {
            "name": "calculator",
            "title": "Calculator",
            "version": "1.0.0",
            "description": "Calculates.",
            "websiteUrl": "https://example.org",
            "icons": [{"src": "https://example.org/a.svg", "sizes": ["any"], "theme": "light"}],
        },
        "instructions": "Add first.",
    });
    keeps::<ServletDescription>(&several);
    let tools = read::<ServletDescription>(&several).tools.unwrap();
    assert_eq!(tools[1].name, "b");
    keeps::<ServletDescription>(&json!({"tools": []}));
}

#[test]
fn reads_a_description_that_is_both() {
    let mut both = tool();
    both["tools"] = json!([tool()]);
    keeps::<ServletDescription>(&both);
}

#[test]
fn reads_arguments_that_are_null_or_absent_as_none() {
    for params in [
        json!({"name": "add"}),
        json!({"name": "add", "arguments": null}),
    ] {
        let request: CallToolRequest = read(&json!({"params": params}));
        assert_eq!(request.params.arguments, None);
        let without = json!({"params": {"name": "add"}});
        assert_eq!(written(&request), without);
    }
}

#[test]
fn keeps_arguments_as_they_are() {
    let text = r#"{"params":{"name":"add","arguments":{"b":1.50,"a":{"z":[null]}},"_meta":{}}}"#;
    let request: CallToolRequest = serde_json::from_str(text).unwrap();
    let arguments: RawJson = request.params.arguments.clone().unwrap();
    let value: Value = serde_json::from_str(&written(&arguments).to_string()).unwrap();
    assert_eq!(value, json!({"b": 1.5, "a": {"z": [null]}}));
    keeps::<CallToolRequest>(&json!({
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1}, "_meta": {"progressToken": 7}},
    }));
}

#[test]
fn keeps_resources() {
    keeps::<ListResourcesResult>(&json!({
        "resources": [
            {"uri": "a://b", "name": "b"},
            {
                "uri": "a://c",
                "name": "c",
                "title": "C",
                "description": "The third.",
                "mimeType": "text/markdown",
                "size": 12,
                "icons": [{"src": "https://example.org/c.png"}],
                "annotations": {"audience": ["user"]},
                "_meta": {"a": {}},
            },
        ],
        "nextCursor": "",
        "_meta": {},
    }));
    keeps::<ListResourceTemplatesResult>(&json!({
        "resourceTemplates": [{
            "uriTemplate": "users://{id}",
            "name": "user",
            "title": "User",
            "description": "Someone.",
            "mimeType": "application/json",
            "annotations": {"priority": 1.0},
        }],
    }));
    keeps::<ReadResourceRequest>(&json!({"params": {"uri": "a://b"}}));
    keeps::<ReadResourceResult>(&json!({
        "contents": [{"uri": "a://b", "text": "x"}, {"uri": "a://c", "blob": "AAH/"}],
        "isError": true,
    }));
}

#[test]
fn ignores_fields_that_it_does_not_know() {
    let result =
        json!({"content": [{"type": "text", "text": "x", "later": 1}], "resultType": "complete"});
    let known = json!({"content": [{"type": "text", "text": "x"}]});
    assert_eq!(written(&read::<CallToolResult>(&result)), known);
}

#[test]
fn names_the_missing_field() {
    let error = serde_json::from_str::<CallToolResult>("{}").unwrap_err();
    assert!(error.to_string().starts_with("missing field `content`"));
    let error = serde_json::from_str::<Content>(r#"{"type":"video"}"#).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("unknown variant `video`, expected one of `text`")
    );
}

#[test]
fn constructs_with_what_is_required() {
    let text = Content {
        text: Some("Hello".to_owned()),
        ..Content::new(ContentType::Text)
    };
    let result = CallToolResult::new(vec![text]);
    assert_eq!(
        written(&result),
        json!({"content": [{"type": "text", "text": "Hello"}]})
    );
    let tool = ToolDescription::new("add", "Adds.", RawJson::default());
    assert_eq!((tool.name.as_str(), tool.title), ("add", None));
    assert_eq!(ContentType::ResourceLink.to_string(), "resource_link");
}

#[test]
fn prompts_keep_their_fields() {
    keeps::<ListPromptsResult>(&json!({
        "prompts": [{
            "name": "review",
            "title": "Review",
            "description": "Reviews code.",
            "arguments": [{ "name": "code", "title": "Code", "description": "it", "required": true }],
            "icons": [{ "src": "data:," }],
            "_meta": { "a": 1 },
        }],
        "_meta": {},
    }));
    keeps::<GetPromptRequest>(&json!({
        "method": "prompts/get",
        "params": { "name": "review", "arguments": { "code": "x" }, "_meta": {} },
    }));
    keeps::<GetPromptResult>(&json!({
        "description": "d",
        "messages": [{ "role": "user", "content": { "type": "text", "text": "Review x." } }],
    }));
}

#[test]
fn completion_keeps_its_fields() {
    keeps::<CompleteRequest>(&json!({
        "params": {
            "ref": { "type": "ref/resource", "uri": "notes://{id}" },
            "argument": { "name": "id", "value": "a" },
            "context": { "arguments": { "b": "c" } },
        },
    }));
    keeps::<CompleteResult>(&json!({
        "completion": { "values": ["a", "b"], "total": 7, "hasMore": true },
    }));
}

#[test]
fn text_of_a_result_joins_its_text_blocks() {
    let result: CallToolResult = read(&json!({"content": [
        {"type": "text", "text": "a"},
        {"type": "image", "text": "no text block", "data": "iVBORw==", "mimeType": "image/png"},
        {"type": "text", "text": "b"},
    ]}));
    assert_eq!(result.text(), "a\nb");
}
