//! Lists and the catalogs that are made of them.

use mcp_catalog::{Catalog, Detail, ItemKind, Tool};
use serde_json::{Value, json};

use crate::support::{assert_valid, catalog_of};

/// The files in `tests/lists`.
const LISTS: [(&str, &str); 8] = [
    ("apps", include_str!("lists/apps.json")),
    ("bad-entries", include_str!("lists/bad-entries.json")),
    ("bad-schemas", include_str!("lists/bad-schemas.json")),
    ("names", include_str!("lists/names.json")),
    ("prompts", include_str!("lists/prompts.json")),
    ("resources", include_str!("lists/resources.json")),
    ("references", include_str!("lists/references.json")),
    ("tools", include_str!("lists/tools.json")),
];

/// What examples of this workspace describe.
const SERVLETS: [&str; 3] = [
    include_str!("../../../../../tests/e2e/descriptions/calculator.json"),
    include_str!("../../../../../tests/e2e/descriptions/catalogue.json"),
    include_str!("../../../../../tests/e2e/descriptions/greet.json"),
];

/// A catalog of tools that a server lists in this way.
fn catalog_of_tools(tools: &str) -> Catalog {
    catalog_of(&format!(
        r#"{{ "protocol": "1", "server": {{ "info": {{}}, "capabilities": {{}} }}, "tools": {tools} }}"#
    ))
}

fn tool_of(catalog: &Catalog, index: usize) -> &Tool {
    match &catalog.items[index].detail {
        Detail::Tool(tool) => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn catalogs_are_as_expected() {
    for (name, lists) in LISTS {
        let catalog = catalog_of(lists);
        assert_valid(&catalog);
        let text = serde_json::to_string_pretty(&catalog).unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

#[test]
fn servlets_have_catalogs_without_problems() {
    for description in SERVLETS {
        let description: Value = serde_json::from_str(description).unwrap();
        let tools = match &description["tools"] {
            Value::Null => json!([description]),
            tools => tools.clone(),
        };
        let catalog = catalog_of_tools(&tools.to_string());
        assert_valid(&catalog);
        assert_eq!(catalog.diagnostics, []);
        assert_eq!(catalog.items.len(), tools.as_array().unwrap().len());
    }
}

#[test]
fn problems_of_lists_come_first() {
    let catalog = catalog_of(
        r#"{
            "protocol": "1",
            "server": { "info": 7, "capabilities": {} },
            "problems": [{ "code": "cursor-repeats", "list": "resources/templates/list", "message": "ends" }]
        }"#,
    );
    assert_valid(&catalog);
    let found = catalog.diagnostics.iter();
    let found: Vec<_> = found
        .map(|problem| (&*problem.code, &*problem.pointer))
        .collect();
    assert_eq!(
        found,
        [
            ("cursor-repeats", "/resourceTemplates"),
            ("bad-member", "/server/info")
        ]
    );
}

#[test]
fn empty_lists_make_an_empty_catalog() {
    let catalog = catalog_of_tools("[]");
    assert_valid(&catalog);
    assert_eq!(
        (catalog.items, catalog.diagnostics),
        (Vec::new(), Vec::new())
    );
}

/// JSON within JSON within JSON.
fn nested(levels: usize) -> String {
    format!(
        "{}{{}}{}",
        r#"{"not":"#.repeat(levels - 1),
        "}".repeat(levels - 1)
    )
}

#[test]
fn deep_members_are_left_out() {
    for (levels, kept) in [(100, true), (101, false), (300, false), (100_000, false)] {
        let deep = nested(levels);
        let catalog = catalog_of_tools(&format!(
            r#"[{{ "name": "deep", "inputSchema": {deep}, "extra": {deep} }}, {{ "name": "good", "inputSchema": {{}} }}]"#
        ));
        assert_valid(&catalog);
        let input = &tool_of(&catalog, 0).input;
        assert_eq!(input.json.is_object(), kept, "{levels}");
        assert_eq!(catalog.items[0].extra.contains_key("extra"), kept);
        let codes = catalog.diagnostics.iter().map(|problem| &*problem.code);
        let codes: Vec<_> = codes.collect();
        assert_eq!(
            codes,
            if kept {
                [].as_slice()
            } else {
                &["bad-schema", "bad-member"]
            }
        );
        assert_eq!(
            input.error.as_deref(),
            (!kept).then_some("nests more than 100 levels deep")
        );
        assert_eq!(tool_of(&catalog, 1).input.error, None);
    }
}

#[test]
fn schemas_check_values_in_their_dialect() {
    let catalog = catalog_of(LISTS[7].1);
    let new = tool_of(&catalog, 0).input.validator().unwrap();
    assert!(
        new.check_value(&json!({ "city": "Oslo", "at": 9_007_199_254_740_993_u64 }))
            .is_ok()
    );
    assert!(
        new.check_value(&json!({ "city": "Oslo", "at": 9_007_199_254_740_994_u64 }))
            .is_err()
    );
    // In draft-07, a list of `items` has a schema for each position.
    let old = tool_of(&catalog, 1).input.validator().unwrap();
    assert!(old.check_value(&json!({ "list": ["a"] })).is_ok());
    assert!(old.check_value(&json!({ "list": [1] })).is_err());
    assert!(old.check_value(&json!({ "list": ["a", "b"] })).is_err());
}

#[test]
fn the_number_of_patterns_has_a_limit() {
    let tool = |count: usize| {
        let properties = (0..count).map(|name| (name.to_string(), json!({ "pattern": "a" })));
        let properties: serde_json::Map<_, _> = properties.collect();
        json!({ "name": count.to_string(), "inputSchema": { "patternProperties": { "b": {} }, "properties": properties } })
    };
    let catalog = catalog_of_tools(&json!([tool(3000), tool(2000), tool(1998)]).to_string());
    let errors = (0..3).map(|index| tool_of(&catalog, index).input.error.is_some());
    assert_eq!(errors.collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(
        catalog.diagnostics[0].message,
        "was not checked: a catalog may have 5000 patterns"
    );
}

#[test]
fn a_schema_that_cannot_be_read_has_no_validator() {
    let catalog = catalog_of_tools(r#"[{ "name": "none" }]"#);
    let error = tool_of(&catalog, 0).input.validator().unwrap_err();
    assert_eq!(error.to_string(), "is missing; expected an object");
}

#[test]
fn the_order_of_members_does_not_change_a_digest() {
    let digest = |tool: &str| {
        catalog_of_tools(&format!("[{tool}]")).items[0]
            .sha256
            .clone()
    };
    let one = digest(r#"{"name": "a", "inputSchema": {"type": "object", "x": 1.0}}"#);
    assert_eq!(
        one,
        digest(r#"{ "inputSchema": {"x":1, "type":"\u006fbject"},"name":"a"}"#)
    );
    assert_ne!(
        one,
        digest(r#"{"name": "a", "inputSchema": {"type": "object", "x": 2}}"#)
    );
    assert_ne!(
        one,
        digest(r#"{"name": "a", "inputSchema": {"type": "object", "x": 1}, "new": 0}"#)
    );
}

#[test]
fn repeated_members_are_reported_and_change_the_digest() {
    let catalog = |before: &str| {
        catalog_of_tools(&format!(
            r#"[{{ "name": "{before}", "inputSchema": {{ "type": "object", "x": 1, "x": 2 }}, "name": "a" }}]"#
        ))
    };
    let [first, second] = [catalog("safe"), catalog("other")];
    assert_valid(&first);
    assert_eq!(first.items[0].name, "a");
    let [problem] = &first.diagnostics[..] else {
        panic!("{:?}", first.diagnostics)
    };
    assert_eq!(
        (&*problem.code, &*problem.pointer, &*problem.message),
        (
            "duplicate-member",
            "/inputSchema/x",
            "has the name of an earlier member: `x`, and in 1 other place; the last one counts"
        )
    );
    assert_ne!(first.items[0].sha256, second.items[0].sha256);
}

#[test]
fn the_last_of_repeated_members_counts_even_if_it_cannot_be_read() {
    let deep = nested(300);
    let catalog = catalog_of_tools(&format!(
        r#"[{{ "name": "a", "inputSchema": {{}}, "x": 1, "x": {deep} }}, {{ "name": "b", "inputSchema": {{}}, "x": {deep}, "x": 1 }}]"#
    ));
    assert_eq!(catalog.items[0].extra.get("x"), None);
    assert_eq!(catalog.items[1].extra.get("x"), Some(&json!(1)));
    let codes = catalog.diagnostics.iter().map(|problem| &*problem.code);
    assert_eq!(
        codes.collect::<Vec<_>>(),
        ["duplicate-member", "bad-member", "duplicate-member"]
    );
}

#[test]
fn the_first_of_several_is_found() {
    let catalog = catalog_of_tools(
        r#"[{ "name": "a", "description": "1", "inputSchema": {} }, { "name": "a", "description": "2", "inputSchema": {} }]"#,
    );
    let found = catalog.find(ItemKind::Tool, "a").unwrap();
    assert_eq!(found.description.as_deref(), Some("1"));
    assert!(catalog.find(ItemKind::Prompt, "a").is_none());
}
