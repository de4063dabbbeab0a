//! Resources with fixed URIs: their descriptions and contents.

use std::fmt;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

/// How to use it.
#[resource(
    uri = "docs://readme",
    title = "Read me",
    mime_type = "text/markdown",
    size = README.len(),
    audience = "user",
    priority = 0.5,
    last_modified = "2026-01-31T12:00:00Z",
    meta = [mcp_servlet::Meta::integer("a", 1)]
)]
fn readme() -> &'static str {
    README
}

const README: &str = "# \"Read\" me";

#[resource(uri = "docs://logo", name = "logo.png", mime_type = "image/png")]
fn logo() -> &'static [u8; 3] {
    b"\x89PN"
}

#[derive(Serialize)]
struct Settings {
    language: String,
}

/// What is configured.
#[resource(uri = "settings://all")]
fn settings(context: &Context) -> Option<Json<Settings>> {
    let language = context.config_value("language")?;
    Some(Json(Settings { language }))
}

#[resource(uri = "files://all")]
fn files() -> Vec<ResourceContents> {
    let meta = RawJson::parse(r#"{"b":2}"#).ok();
    let second = ResourceContents::blob("files://2", b"two");
    vec![
        ResourceContents::text("files://1", "one"),
        ResourceContents {
            mime_type: Some("x/y".to_owned()),
            meta,
            ..second
        },
    ]
}

#[resource(uri = "files://none")]
fn no_files() -> Vec<ResourceContents> {
    Vec::new()
}

#[derive(Debug)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the disk is full")
    }
}

impl std::error::Error for Broken {}

#[resource(uri = "errors://broken")]
fn broken() -> Result<String, Broken> {
    Err(Broken)
}

#[resource(uri = "errors://fault")]
fn fault() -> Result<Vec<u8>, ToolError> {
    Err(Fault::new(7, "no").into())
}

mcp_servlet::export!(static SERVLET = {
    resources: [readme, logo, settings, files, no_files, broken, fault],
});

fn listed() -> Value {
    serde_json::to_value(SERVLET.client().list_resources().unwrap()).unwrap()
}

#[test]
fn lists_resources_with_their_options_in_source_order() {
    let list = listed();
    assert_eq!(
        list[0],
        json!({
            "uri": "docs://readme",
            "name": "readme",
            "title": "Read me",
            "description": "How to use it.",
            "mimeType": "text/markdown",
            "size": 11,
            "annotations": {
                "audience": ["user"],
                "priority": 0.5,
                "lastModified": "2026-01-31T12:00:00Z",
            },
            "_meta": { "a": 1 },
        })
    );
    let png = json!({ "uri": "docs://logo", "name": "logo.png", "mimeType": "image/png" });
    assert_eq!(list[1], png);
    assert_eq!(list[2]["mimeType"], "application/json");
    assert_eq!(list.as_array().unwrap().len(), 7);
}

#[test]
fn reads_text_bytes_json_and_several_at_once() {
    let read = |uri| SERVLET.client().read_resource(uri).unwrap();
    let client = SERVLET.client().with_config("language", "fr");
    let settings = client.read_resource("settings://all");
    for (result, contents) in [
        (
            read("docs://readme"),
            json!([{ "uri": "docs://readme", "mimeType": "text/markdown", "text": README }]),
        ),
        (
            read("docs://logo"),
            json!([{ "uri": "docs://logo", "mimeType": "image/png", "blob": "iVBO" }]),
        ),
        (
            settings.unwrap(),
            json!([{
                "uri": "settings://all",
                "mimeType": "application/json",
                "text": r#"{"language":"fr"}"#,
            }]),
        ),
        (
            read("files://all"),
            json!([
                { "uri": "files://1", "text": "one" },
                { "uri": "files://2", "mimeType": "x/y", "blob": "dHdv", "_meta": { "b": 2 } },
            ]),
        ),
    ] {
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(result, json!({ "contents": contents }));
    }
}

#[test]
fn unknown_resource_is_a_fault_with_its_uri() {
    for uri in [
        "docs://other",
        "settings://all",
        "files://none",
        "",
        "docs://readme\n",
    ] {
        let fault = SERVLET.client().read_resource(uri).unwrap_err();
        assert_eq!(fault.code(), Fault::RESOURCE_NOT_FOUND, "{uri}");
        assert_eq!(fault.message(), format!("resource not found: {uri}"));
        let data: Value = serde_json::from_str(fault.data().unwrap().get()).unwrap();
        assert_eq!(data, json!({ "uri": uri }));
    }
}

#[test]
fn an_error_of_the_function_is_a_fault() {
    let fault = SERVLET
        .client()
        .read_resource("errors://broken")
        .unwrap_err();
    let expected = (Fault::INTERNAL_ERROR, "the disk is full");
    assert_eq!((fault.code(), fault.message()), expected);
    let fault = SERVLET
        .client()
        .read_resource("errors://fault")
        .unwrap_err();
    assert_eq!((fault.code(), fault.message()), (7, "no"));
}
