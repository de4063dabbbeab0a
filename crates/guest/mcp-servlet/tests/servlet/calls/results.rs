//! The return values of tools, and the results that clients get.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use mcp_servlet::{Annotations, Icon};
use serde_json::json;

/// Declares tools without arguments, in a servlet.
macro_rules! servlet {
    ($servlet:ident: $($name:ident -> $ty:ty = $value:expr;)*) => {
        $(#[tool]
        fn $name() -> $ty {
            $value
        })*
        mcp_servlet::export!(static $servlet = { tools: [$($name),*] });
    };
}

servlet! { TEXTS:
    string -> String = "a\n\"\\".to_owned();
    slice -> &'static str = "ü👍";
    cow -> Cow<'static, str> = "cow".into();
    boxed -> Box<str> = "boxed".into();
    empty -> String = String::new();
    letter -> char = 'x';
    large -> u128 = u128::MAX;
    some -> Option<char> = Some('1');
    right -> Result<&'static str, String> = Ok("right");
    nested -> Result<Option<Result<i128, String>>, ToolError> = Ok(Some(Ok(3)));
}

fn raw(servlet: &'static mcp_servlet::Servlet, tool: &str) -> String {
    let request = format!(r#"{{"params":{{"name":"{tool}"}}}}"#);
    servlet.client().request("call", request).unwrap()
}

#[test]
fn strings_and_numbers_without_a_schema_are_text() {
    for (tool, text) in [
        ("string", r#"a\n\"\\"#),
        ("slice", "ü👍"),
        ("cow", "cow"),
        ("boxed", "boxed"),
        ("empty", ""),
        ("letter", "x"),
        ("large", "340282366920938463463374607431768211455"),
        ("some", "1"),
        ("right", "right"),
        ("nested", "3"),
    ] {
        let expected = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        assert_eq!(raw(&TEXTS, tool), expected);
    }
}

servlet! { NOTHING:
    unit -> () = ();
    none -> Option<String> = None;
    ok -> Result<(), String> = Ok(());
    no_blocks -> Vec<Content> = Vec::new();
    nothing -> ToolResult = ToolResult::empty();
}

#[test]
fn unit_result_has_no_content_and_no_error() {
    for tool in ["unit", "none", "ok", "no_blocks", "nothing"] {
        assert_eq!(raw(&NOTHING, tool), r#"{"content":[]}"#);
    }
}

fn meta() -> RawJson {
    RawJson::parse(r#"{"example.com/key":1}"#).unwrap()
}

servlet! { BLOCKS:
    image -> Content = Content::image(&[0xff, 0xfe, 0xfd, 0], "image/png");
    several -> Vec<Content> = vec![Content::text("a"), Content::audio(b"f", "audio/wav")];
    link -> Content = Content::resource_link("file:///a", "a");
    with_meta -> ToolResult = ToolResult::text("a").and(&Content::text("b")).with_meta(meta());
    wrong -> ToolResult = ToolResult::error("no");
}

#[test]
fn content_blocks_match_mcp() {
    for (tool, result) in [
        (
            "image",
            r#"{"content":[{"type":"image","data":"//79AA==","mimeType":"image/png"}]}"#,
        ),
        (
            "several",
            r#"{"content":[{"type":"text","text":"a"},{"type":"audio","data":"Zg==","mimeType":"audio/wav"}]}"#,
        ),
        (
            "link",
            r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}"#,
        ),
        (
            "with_meta",
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"_meta":{"example.com/key":1}}"#,
        ),
        (
            "wrong",
            r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
        ),
    ] {
        assert_eq!(raw(&BLOCKS, tool), result);
    }
}

#[derive(Serialize, Schema)]
struct Point {
    x: f64,
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

servlet! { STRUCTURED:
    point -> Json<Point> = Json(Point { x: 1.5, label: None, note: None });
    maybe -> Result<Json<Point>, ToolError> = Ok(Json(Point { x: -0.5, label: Some("\"".into()), note: None }));
    map -> Json<BTreeMap<&'static str, Vec<u8>>> = Json([("a", vec![1, 2])].into());
}

#[test]
fn json_is_structured_content_and_the_same_as_text() {
    for (tool, json) in [
        ("point", r#"{"x":1.5,"label":null}"#),
        ("maybe", r#"{"x":-0.5,"label":"\""}"#),
        ("map", r#"{"a":[1,2]}"#),
    ] {
        let text = serde_json::to_string(json).unwrap();
        let expected = format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{json}}}"#
        );
        assert_eq!(raw(&STRUCTURED, tool), expected);
    }
}

#[test]
fn only_structured_results_have_an_output_schema() {
    let tools = STRUCTURED.client().describe().unwrap().tools.unwrap();
    let with: Vec<_> = tools
        .iter()
        .filter(|tool| tool.output_schema.is_some())
        .map(|tool| &*tool.name)
        .collect();
    assert_eq!(with, ["point", "maybe", "map"]);
    let schemas = TEXTS
        .client()
        .describe()
        .unwrap()
        .tools
        .unwrap()
        .into_iter()
        .filter_map(|tool| tool.output_schema);
    assert_eq!(schemas.count(), 0);
}

#[test]
fn results_read_back_as_the_wire_type() {
    let result = BLOCKS.call("with_meta", json!({})).unwrap();
    assert_eq!(result.content.len(), 2);
    assert_eq!(result.meta, Some(meta()));
    let result = STRUCTURED.call("point", ()).unwrap();
    assert_eq!(
        result.structured_content.unwrap().get(),
        r#"{"x":1.5,"label":null}"#
    );
    assert_eq!(result.is_error, None);
}

servlet! { WRAPPED:
    list -> Json<Vec<u8>> = Json(vec![1, 2]);
    number -> Result<Json<f64>, ToolError> = Ok(Json(1.5));
    perhaps -> Json<Option<BTreeMap<String, u8>>> = Json(None);
    option -> Option<Json<&'static str>> = Some(Json("a"));
    absent -> Option<Json<Point>> = None;
    any -> Json<RawJson> = Json(meta());
}

#[test]
fn json_that_is_no_object_is_wrapped_in_one() {
    let tools = WRAPPED.client().describe().unwrap().tools.unwrap();
    for (at, (name, json, schema)) in [
        ("list", "[1,2]", json!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 } })),
        ("number", "1.5", json!({ "type": "number" })),
        (
            "perhaps",
            "null",
            json!({
                "type": ["object", "null"],
                "additionalProperties": { "type": "integer", "minimum": 0, "maximum": 255 },
            }),
        ),
        ("option", "\"a\"", json!({ "type": ["string", "null"] })),
        (
            "absent",
            "null",
            json!({
                "type": ["object", "null"],
                "properties": {
                    "x": { "type": "number" },
                    "label": { "type": ["string", "null"] },
                    "note": { "type": ["string", "null"] },
                },
                "required": ["x", "label"],
            }),
        ),
        ("any", r#"{"example.com/key":1}"#, json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        let result = WRAPPED.call(name, json!({})).unwrap();
        assert_eq!(result.text(), json);
        let structured = result.structured_content.unwrap();
        assert_eq!(structured.get(), format!("{{\"result\":{json}}}"));
        assert_eq!(tools[at].name, name);
        let output = tools[at].output_schema.as_ref().unwrap();
        assert_eq!(
            serde_json::to_value(output).unwrap(),
            json!({
                "type": "object",
                "properties": { "result": schema },
                "required": ["result"],
                "x-fastmcp-wrap-result": true,
            })
        );
    }
}

servlet! { VALUES:
    yes -> bool = true;
    small -> i8 = -128;
    half -> f64 = 0.5;
    whole -> Result<f32, String> = Ok(2.0);
    byte -> Option<u8> = Some(1);
    unknown -> Option<bool> = None;
    deeper -> Result<Option<Result<u8, String>>, ToolError> = Ok(None);
    twice -> Option<Option<f64>> = Some(None);
    deepest -> Option<Result<Json<Point>, String>> = Some(Err("no".to_owned()));
}

#[test]
fn numbers_and_booleans_are_text_and_wrapped_structured_content() {
    let tools = VALUES.client().describe().unwrap().tools.unwrap();
    let byte = |ty| json!({ "type": ty, "minimum": 0, "maximum": 255 });
    for (at, (name, json, schema)) in [
        ("yes", "true", json!({ "type": "boolean" })),
        (
            "small",
            "-128",
            json!({ "type": "integer", "minimum": -128, "maximum": 127 }),
        ),
        ("half", "0.5", json!({ "type": "number" })),
        ("whole", "2", json!({ "type": "number" })),
        ("byte", "1", byte(json!(["integer", "null"]))),
        ("unknown", "null", json!({ "type": ["boolean", "null"] })),
        ("deeper", "null", byte(json!(["integer", "null"]))),
        ("twice", "null", json!({ "type": ["number", "null"] })),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(
            raw(&VALUES, name),
            format!(
                r#"{{"content":[{{"type":"text","text":"{json}"}}],"structuredContent":{{"result":{json}}}}}"#
            )
        );
        assert_eq!(tools[at].name, name);
        let schema_of_output = tools[at].output_schema.as_ref().unwrap();
        let output = serde_json::to_value(schema_of_output).unwrap();
        assert_eq!(output["properties"], json!({ "result": schema }), "{name}");
        assert_eq!(output["x-fastmcp-wrap-result"], true);
    }
}

#[test]
fn the_schema_of_json_in_a_result_in_an_option_is_kept() {
    let tools = VALUES.client().describe().unwrap().tools.unwrap();
    let schema = tools.last().unwrap().output_schema.as_ref().unwrap();
    let output = serde_json::to_value(schema).unwrap();
    let result = &output["properties"]["result"];
    assert_eq!(result["type"], json!(["object", "null"]));
    assert_eq!(VALUES.call("deepest", ()).unwrap().is_error, Some(true));
}

servlet! { NOT_FINITE:
    nan -> f64 = f64::NAN;
    infinite -> Option<f32> = Some(f32::NEG_INFINITY);
}

#[test]
fn a_float_that_is_not_finite_is_an_error() {
    for (tool, value) in [("nan", "NaN"), ("infinite", "-inf")] {
        let result = NOT_FINITE.call(tool, ()).unwrap();
        assert_eq!(result.is_error, Some(true));
        let expected = format!("the result is not a finite number: {value}");
        assert_eq!(result.text(), expected);
        assert_eq!(result.structured_content, None);
    }
}

#[tool]
fn every_kind() -> Vec<Content> {
    let noon = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_785_240_000);
    let meta = RawJson::parse(r#"{"k":1}"#).unwrap();
    let hints = Annotations::for_user().with_priority(0.5);
    vec![
        Content::text("a").with_annotations(hints.with_last_modified(noon)),
        Content::image(b"\x89PNG", "image/png").with_meta(meta.clone()),
        Content::audio(b"RIFF", "audio/wav").with_annotations(Annotations::for_assistant()),
        Content::text_resource("a://t", "text").with_mime_type("text/plain"),
        Content::blob_resource("a://b", &[0, 255]),
        Content::resource_link("a://l", "link")
            .with_mime_type("text/html")
            .with_icons([Icon::new("https://example.com/i.png")]),
    ]
}

mcp_servlet::export!(static KINDS = { tools: [every_kind] });

#[test]
fn every_kind_of_content_looks_as_in_mcp() {
    let result: serde_json::Value = serde_json::from_str(&raw(&KINDS, "every_kind")).unwrap();
    assert_eq!(
        result["content"],
        json!([
            {
                "type": "text", "text": "a",
                "annotations": {
                    "audience": ["user"], "priority": 0.5, "lastModified": "2026-07-28T12:00:00Z",
                },
            },
            { "type": "image", "data": "iVBORw==", "mimeType": "image/png", "_meta": { "k": 1 } },
            {
                "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav",
                "annotations": { "audience": ["assistant"] },
            },
            { "type": "resource", "resource": { "uri": "a://t", "mimeType": "text/plain", "text": "text" } },
            { "type": "resource", "resource": { "uri": "a://b", "blob": "AP8=" } },
            {
                "type": "resource_link", "uri": "a://l", "name": "link", "mimeType": "text/html",
                "icons": [{ "src": "https://example.com/i.png" }],
            },
        ])
    );
}
