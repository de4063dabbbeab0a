//! The project's own schema follows the published rules of XTP and the rules of the official library.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use xtp_codegen::{Input, Mode, Options, Schema};

use crate::{published, yaml};

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    fs::read_to_string(root.join(name)).unwrap()
}

#[test]
fn keeps_the_published_rules() {
    let document = yaml::to_json(&read("schema.yaml"));
    assert_eq!(published::violations(&document), Vec::<String>::new());
}

#[test]
fn keeps_the_rules_of_the_library() {
    let schema = read("schema.yaml");
    let input = Input::new("schema.yaml", &schema).mode(Mode::Compat);
    Schema::parse(&input).unwrap();
}

#[test]
fn describes_everything() {
    let document = yaml::to_json(&read("schema.yaml"));
    let mut silent = Vec::new();
    let mut check = |at: String, value: &Value| {
        let text = value["description"].as_str().unwrap_or_default();
        if text.is_empty() || text.trim() != text {
            silent.push(at);
        }
    };
    for (name, export) in document["exports"].as_object().unwrap() {
        check(name.clone(), export);
        for key in ["input", "output"] {
            if let Some(parameter) = export.get(key) {
                check(format!("{name} {key}"), parameter);
            }
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        check(name.clone(), schema);
        for (property, value) in schema["properties"].as_object().into_iter().flatten() {
            check(format!("{name}.{property}"), value);
        }
    }
    assert_eq!(silent, Vec::<String>::new());
}

/// An alternative to the declared output of an export, because XTP has no unions.
const INSTEAD: &str = "#/components/schemas/InputRequiredResult\"";

#[test]
fn reaches_every_schema_from_an_export() {
    let document = yaml::to_json(&read("schema.yaml"));
    let mut reached: Vec<String> = Vec::new();
    let mut open = vec![document["exports"].to_string(), INSTEAD.to_owned()];
    while let Some(text) = open.pop() {
        for (start, mark) in text.match_indices("#/components/schemas/") {
            let rest = &text[start + mark.len()..];
            let name = rest.split('"').next().unwrap().to_owned();
            if !reached.contains(&name) {
                open.push(document["components"]["schemas"][&name].to_string());
                reached.push(name);
            }
        }
    }
    let all = document["components"]["schemas"].as_object().unwrap();
    let orphans: Vec<_> = all.keys().filter(|name| !reached.contains(name)).collect();
    assert_eq!(orphans, Vec::<&String>::new());
}

/// Generates every type of a schema that servlets have had, even if no export uses it.
fn types(name: &str, text: &str) -> String {
    let document = yaml::to_json(text);
    assert_eq!(published::violations(&document), Vec::<String>::new());
    let schema = Schema::parse(&Input::new(name, text)).unwrap();
    assert!(schema.warnings().is_empty(), "{}", schema.warnings());
    let rust = schema.to_rust(&Options::new()).unwrap();
    for name in document["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys()
    {
        let kinds = ["struct", "enum"].map(|kind| format!("pub {kind} {name} {{"));
        assert!(kinds.iter().any(|kind| rust.contains(kind)), "{name}");
    }
    rust
}

#[test]
fn generates_the_interface_of_one_tool_with_resources() {
    let rust = types(
        "one-tool.yaml",
        include_str!("../golden/one-tool/schema.yaml"),
    );
    for line in [
        // Misspelled, and not used by any export.
        "pub params: Option<ListResouceRequestParams>,",
        "pub struct ListResourceTemplatesRequst {",
        // A request may lack both.
        "pub params: Option<ReadResourceRequestParams>,",
        "pub uri: Option<String>,",
        "#[serde(rename = \"_meta\", skip_serializing_if = \"Option::is_none\")]",
        "#[serde(rename = \"Resource\", skip_serializing_if = \"Option::is_none\")]",
        "pub resource: Option<EmbeddedResourceContents>,",
        "pub text: Option<TextResourceContents>,",
        "pub blob: Option<BlobResourceContents>,",
        "pub blob: String,",
        "pub data: Option<String>,",
        "pub r#type: ContentType,",
        "pub audience: Option<Vec<Role>>,",
        "pub priority: Option<f32>,",
        "pub input_schema: ::serde_json::Map<String, ::serde_json::Value>,",
        "pub is_error: Option<bool>,",
        "pub uri_template: String,",
    ] {
        assert!(rust.contains(line), "{line}\n{rust}");
    }
}

#[test]
fn generates_the_interface_of_several_tools() {
    let rust = types(
        "several-tools.yaml",
        include_str!("../golden/several-tools/schema.yaml"),
    );
    for line in [
        "pub tools: Vec<ToolDescription>,",
        "pub arguments: Option<::serde_json::Map<String, ::serde_json::Value>>,",
        "pub annotations: Option<TextAnnotation>,",
        "pub audience: Vec<Role>,",
        "pub priority: f32,",
        "pub blob: String,",
    ] {
        assert!(rust.contains(line), "{line}\n{rust}");
    }
}

/// The check above is useful only if it finds mistakes.
#[test]
fn finds_violations_of_the_published_rules() {
    let parameter = json!({"type": "string", "contentType": "application/json"});
    let property = "/components/schemas/A/properties/a";
    let sound = json!({
        "version": "v1-draft",
        "exports": {"f": {"input": parameter}},
        "components": {"schemas": {
            "A": {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
            "B": {"enum": ["b"]},
        }},
    });
    assert_eq!(published::violations(&sound), Vec::<String>::new());
    let broken = [
        ("/version", json!("v1")),
        ("/exports", json!(["f"])),
        ("/exports/f", json!({"imports": {}})),
        ("/exports/f/input", json!({"type": "string"})),
        ("/exports/f/input/contentType", json!("text/plain")),
        ("/components", json!({})),
        (
            "/components/schemas/A",
            json!({"type": "object", "properties": {}}),
        ),
        ("/components/schemas/A", json!({"type": "integer"})),
        ("/components/schemas/B/enum", json!(["a-b"])),
        (
            "/components/schemas/A/properties",
            json!({"a b": {"type": "string"}}),
        ),
        (property, json!({"type": "integer", "format": "uint8"})),
        (property, json!({"type": "string", "default": "x"})),
        (
            property,
            json!({"$ref": "#/components/schemas/B", "type": "string"}),
        ),
        (property, json!({"$ref": "#/components/schemas/B/enum"})),
        (
            property,
            json!({"type": "array", "items": {"type": "string", "description": "x"}}),
        ),
        (
            property,
            json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
        ),
        (
            property,
            json!({"type": "object", "additionalProperties": {"additionalProperties": {"type": "string"}}}),
        ),
        (property, json!({"enum": ["x"]})),
    ];
    for (place, value) in broken {
        let mut document = sound.clone();
        *document.pointer_mut(place).unwrap() = value;
        assert_ne!(
            published::violations(&document),
            Vec::<String>::new(),
            "{place}"
        );
    }
}
