//! Catalogs as OpenAPI documents.

use mcp_catalog::{Catalog, Detail, OpenApi, Schema};
use serde_json::{Value, json};

use crate::support::{assert_operation_ids, assert_references, catalog_of, component};

/// The files in `tests/lists` whose documents are compared.
const LISTS: [(&str, &str); 8] = [
    (
        "openapi-bad-entries",
        include_str!("lists/bad-entries.json"),
    ),
    (
        "openapi-bad-schemas",
        include_str!("lists/bad-schemas.json"),
    ),
    ("openapi-names", include_str!("lists/names.json")),
    ("openapi-operations", include_str!("lists/operations.json")),
    ("openapi-prompts", include_str!("lists/prompts.json")),
    ("openapi-resources", include_str!("lists/resources.json")),
    ("openapi-references", include_str!("lists/references.json")),
    ("openapi-tools", include_str!("lists/tools.json")),
];

#[test]
fn documents_are_as_expected() {
    for (name, lists) in LISTS {
        let OpenApi {
            document,
            diagnostics,
        } = catalog_of(lists).to_openapi();
        assert_references(&document);
        assert_operation_ids(&document);
        let shown = json!({ "document": document, "diagnostics": diagnostics });
        let text = serde_json::to_string_pretty(&shown).unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

fn input_of<'a>(catalog: &'a Catalog, name: &str) -> &'a Schema {
    let mut items = catalog.items.iter();
    let item = items.find(|item| item.name == name).expect("the tool");
    match &item.detail {
        Detail::Tool(tool) => &tool.input,
        other => panic!("{other:?}"),
    }
}

#[test]
fn components_accept_what_their_schemas_accept() {
    let catalog = catalog_of(include_str!("lists/references.json"));
    let document = catalog.to_openapi().document;
    let tree = json!({ "label": "a", "children": [{ "label": "b" }] });
    for (tool, value, expected) in [
        ("definitions", json!({ "tree": tree, "other": tree }), true),
        ("definitions", json!({ "tree": tree, "other": {} }), false),
        (
            "definitions",
            json!({ "tree": { "label": "a", "children": [{}] } }),
            false,
        ),
        (
            "definitions",
            json!({ "tree": tree, "pet": { "kind": "cat" } }),
            true,
        ),
        (
            "definitions",
            json!({ "tree": tree, "pet": { "name": 1 } }),
            false,
        ),
        (
            "draft 7/{id}",
            json!({ "pair": ["a", 1], "first": "a", "list": [] }),
            true,
        ),
        ("draft 7/{id}", json!({ "pair": ["a", "b"] }), false),
        ("draft 7/{id}", json!({ "pair": ["a", 1, 2] }), false),
        ("draft 7/{id}", json!({ "list": ["a", "b", "c"] }), false),
        (
            "draft 7/{id}",
            json!({ "pair": [], "list": ["a", "b", "c"] }),
            true,
        ),
        (
            "draft 7/{id}",
            json!({ "pair": [], "list": [], "first": 1 }),
            false,
        ),
        ("draft 7/{id}", json!({ "first": "a" }), false),
        ("draft_4", json!({ "id": 1, "share": 1 }), true),
        ("draft_4", json!({ "id": 0 }), false),
        ("draft_4", json!({ "share": 2 }), false),
    ] {
        let original = jsonschema::validator_for(&input_of(&catalog, tool).json).unwrap();
        assert_eq!(original.is_valid(&value), expected, "{tool}: {value}");
        let path = document["paths"].as_object().unwrap().iter();
        let (_, path) = path
            .clone()
            .find(|(_, path)| path["post"]["operationId"] == tool)
            .unwrap();
        let content = &path["post"]["requestBody"]["content"];
        let reference = &content["application/json"]["schema"]["$ref"];
        let converted = component(&document, reference.as_str().unwrap());
        assert_eq!(converted.is_valid(&value), expected, "{tool}: {value}");
    }
}

#[test]
fn results_are_accepted_as_mcp_has_them() {
    let catalog = catalog_of(include_str!("lists/operations.json"));
    let document = catalog.to_openapi().document;
    let text = json!({ "type": "text", "text": "a" });
    for (name, value, expected) in [
        ("ToolResult", json!({ "content": [text] }), true),
        ("ToolResult", json!({ "structuredContent": {} }), false),
        (
            "PromptResult",
            json!({ "description": "b", "messages": [{ "role": "user", "content": text }] }),
            true,
        ),
        (
            "PromptResult",
            json!({ "messages": [{ "role": "user" }] }),
            false,
        ),
        ("PromptResult", json!({ "description": "b" }), false),
        (
            "ResourceResult",
            json!({ "contents": [
                { "uri": "a:b", "mimeType": "text/plain", "text": "c", "_meta": {} },
                { "uri": "a:d", "blob": "AAEC/w==" },
            ], "ttlMs": 0, "cacheScope": "private" }),
            true,
        ),
        (
            "ResourceResult",
            json!({ "contents": [{ "text": "c" }] }),
            false,
        ),
    ] {
        let component = component(&document, &format!("#/components/schemas/{name}"));
        assert_eq!(component.is_valid(&value), expected, "{name}: {value}");
    }
}

#[test]
fn documents_only_have_the_results_of_their_operations() {
    let names = |members: &str| {
        let lists = format!(
            r#"{{ "protocol": "1", "server": {{ "info": {{}}, "capabilities": {{}} }}, {members} }}"#
        );
        let components = catalog_of(&lists).to_openapi().document["components"].clone();
        let schemas = components["schemas"].as_object().unwrap().keys();
        schemas.cloned().collect::<Vec<_>>().join(" ")
    };
    for (members, expected) in [
        (r#""tools": [{ "inputSchema": {} }]"#, "Content Problem"),
        (
            r#""tools": [{ "name": "a", "inputSchema": {}, "outputSchema": {} }]"#,
            "Content Problem a_input a_output",
        ),
        (
            r#""tools": [{ "name": "a", "inputSchema": {} }]"#,
            "ToolResult Content Problem a_input",
        ),
        (
            r#""prompts": [{ "name": "a" }]"#,
            "PromptResult PromptMessage Content Problem prompt_a_input",
        ),
        (
            r#""resourceTemplates": [{ "uriTemplate": "a:{b}" }]"#,
            "ResourceResult ResourceContents Content Problem",
        ),
    ] {
        assert_eq!(names(members), expected, "{members}");
    }
}

#[test]
fn operations_of_tools_are_named_first_in_any_order_of_items() {
    let item = |kind: &str, name: &str, detail: Value| json!({ "type": kind, "name": name, "meta": {}, "detail": detail, "sha256": "" });
    let object = json!({ "input": { "json": { "type": "object" } } });
    let catalog = json!({ "protocol": "1", "server": { "info": {}, "capabilities": {} }, "items": [
        item("resource", "a", json!({ "uri": "a:b" })),
        item("prompt", "a", object.clone()),
        item("tool", "prompt_a", object.clone()),
        item("tool", "readResource", object),
    ] });
    let catalog: Catalog = serde_json::from_value(catalog).unwrap();
    let document = catalog.to_openapi().document;
    let operations = document["paths"].as_object().unwrap();
    let ids = operations
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    let ids: Vec<_> = ids
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["prompt_a", "readResource", "prompt_a_2", "read_resource_2"]
    );
}

#[test]
fn servers_without_a_name_have_a_title_and_a_version() {
    let catalog = catalog_of(
        r#"{ "protocol": "1", "server": { "info": { "name": "", "version": 1 }, "capabilities": {} } }"#,
    );
    let document = Value::Object(catalog.to_openapi().document);
    assert_eq!(document["info"]["title"], "MCP server");
    assert_eq!(document["info"]["version"], "0.0.0");
    assert_eq!(
        document["info"]["x-mcp-server"],
        json!({ "name": "", "version": 1 })
    );
    assert_eq!(document["paths"], json!({}));
}

#[test]
fn a_catalog_whose_schemas_were_not_checked_has_a_document() {
    for (schema, why) in [
        (r##"{ "$ref": "#/$defs/none" }"##, "`#/$defs/none` does not"),
        (r#"{ "$ref": "other.json" }"#, "`other.json` does not"),
        (
            r##"{ "items": { "$dynamicRef": "#a" } }"##,
            "`$dynamicRef` depends",
        ),
        (
            r#"{ "$schema": "https://example.com/x" }"#,
            "the dialect `https://example.com/x`",
        ),
    ] {
        let lists = format!(
            r#"{{ "protocol": "1", "server": {{ "info": {{}}, "capabilities": {{}} }}, "tools": [{{ "name": "a", "inputSchema": {schema} }}] }}"#
        );
        let catalog = Catalog::from(&serde_json::from_str(&lists).unwrap());
        let openapi = catalog.to_openapi();
        assert_references(&openapi.document);
        let [problem] = &openapi.diagnostics[..] else {
            panic!("{:?}", openapi.diagnostics)
        };
        assert!(problem.message.starts_with(why), "{}", problem.message);
        assert!(problem.message.ends_with("accepts any object there"));
        assert_eq!(problem.pointer, "/inputSchema");
    }
}

#[test]
fn a_catalog_without_a_schema_has_a_document() {
    let catalog = json!({ "protocol": "1", "server": { "info": {}, "capabilities": {} }, "items": [{
        "type": "tool", "name": "a", "meta": {}, "detail": { "input": {} }, "sha256": "",
    }] });
    let catalog: Catalog = serde_json::from_value(catalog).unwrap();
    let openapi = catalog.to_openapi();
    assert_references(&openapi.document);
    assert_eq!(
        openapi.diagnostics[0].message,
        "expected an object, found null; the document accepts any object there"
    );
}
