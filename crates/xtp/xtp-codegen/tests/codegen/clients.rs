//! Typed clients: goldens, which the package `xtp-goldens` compiles, and catalogs of any kind.
//!
//! `UPDATE_GOLDENS=1 cargo test -p xtp-codegen --test codegen clients` rewrites the goldens.

use std::path::{Path, PathBuf};
use std::{env, fs};

use mcp_catalog::{Catalog, Lists};
use proptest::prelude::*;
use serde_json::{Value, json};
use xtp_codegen::client::{Client, ClientBuild, Generated};
use xtp_goldens::client_types;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client")
}

/// The names of all cases, in order.
fn cases() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn catalog(text: &str) -> Catalog {
    let lists: Lists = serde_json::from_str(text).unwrap();
    Catalog::from(&lists)
}

fn generated(case: &str) -> Generated {
    let text = fs::read_to_string(folder().join(case).join("catalog.json")).unwrap();
    Client::new().generate(&catalog(&text)).unwrap()
}

#[test]
fn generates_the_expected_clients() {
    let update = env::var_os("UPDATE_GOLDENS").is_some();
    for case in cases() {
        let Generated { rust, warnings } = generated(&case);
        let lines = warnings.iter().map(ToString::to_string);
        let warnings = lines.fold(String::new(), |all, line| all + &line + "\n");
        for (name, text) in [("generated.rs", rust), ("warnings.txt", warnings)] {
            let path = folder().join(&case).join(name);
            if update && !text.is_empty() {
                fs::write(&path, &text).unwrap();
            }
            let found = fs::read_to_string(&path).unwrap_or_default();
            let path = path.display();
            assert!(
                found == text,
                "{path} is out of date: run with `UPDATE_GOLDENS=1`, then read the diff"
            );
            assert!(text.lines().count() <= 500, "{path} is too long to review");
        }
    }
}

#[test]
fn compiles_every_client() {
    let path = |case| format!("../../../crates/xtp/xtp-codegen/tests/client/{case}/generated.rs");
    let paths: Vec<_> = cases().into_iter().map(path).collect();
    assert_eq!(paths, xtp_goldens::CLIENTS);
}

#[test]
fn the_types_write_and_read_what_the_schemas_say() {
    use client_types::{Book, BookFor, BookWhat, Room, SearchFlights, SearchFlightsType};
    use client_types::{Period, SearchFlightsOutput, SearchFlightsWhen};

    let mut search = SearchFlights::new("OSL", "SVO");
    assert_eq!(json!(&search), json!({ "from": "OSL", "to": "SVO" }));
    search.type_ = Some(SearchFlightsType::OneWay);
    search.when = Some(SearchFlightsWhen::Object(Period {
        first: "1".into(),
        last: "2".into(),
    }));
    search.note = Some(mcp_caller::Value::Null);
    let expected = json!({
        "from": "OSL", "to": "SVO", "type": "one-way", "when": { "first": "1", "last": "2" }, "note": null,
    });
    assert_eq!(json!(&search), expected);
    let book = Book {
        what: BookWhat::Room(Room { beds: Some(2) }),
        for_: Some(BookFor {
            first: "1".into(),
            last: "2".into(),
            guests: 2,
        }),
        payment: None,
    };
    let expected = json!({
        "what": { "kind": "room", "beds": 2 }, "for": { "first": "1", "last": "2", "guests": 2 }, "payment": null,
    });
    assert_eq!(json!(&book), expected);

    let read = serde_json::from_value::<SearchFlightsOutput>;
    let flight = json!({ "number": "SK1", "price": 1, "seat": { "row": 1, "letter": "A", "side": "left" }, "legs": [] });
    let output =
        read(json!({ "flights": [flight], "next": null, "hint": null, "more": 1 })).unwrap();
    let seat = output.flights[0].seat.as_ref().unwrap();
    assert_eq!((seat.row, &*seat.extra["side"]), (1, "left"));
    assert_eq!(output.hint, Some(mcp_caller::Value::Null));
    let missing = read(json!({ "flights": [] })).unwrap_err();
    assert_eq!(missing.to_string(), "missing field `next`");
}

/// The text of a schema, in which any part may be wrong.
fn any_schema() -> impl Strategy<Value = Value> {
    let reference = prop::sample::select(vec![
        "#",
        "#/$defs/A",
        "#/$defs/b",
        "#/properties/a",
        "#/x",
        "a.json",
    ]);
    let values = prop::sample::select(vec![
        json!("a"),
        json!("A"),
        json!(1),
        json!(null),
        json!("\u{202e}`\n"),
        json!([]),
    ]);
    let ty = prop::sample::select(vec![
        "object", "array", "string", "integer", "number", "boolean", "null", "x",
    ]);
    let leaf = prop_oneof![
        reference.prop_map(|at| json!({ "$ref": at })),
        prop::collection::vec(values.clone(), 0..4).prop_map(|values| json!({ "enum": values })),
        values.clone().prop_map(|value| json!({ "const": value })),
        prop::collection::vec(ty, 0..3).prop_map(|types| json!({ "type": types })),
        Just(json!({ "type": "string", "description": "[a] <b>\n```rust\n- c" })),
        Just(json!(true)),
        values,
    ];
    leaf.prop_recursive(6, 64, 4, |inner| {
        let names = prop::sample::select(vec!["a", "A", "a-", "type", "kind", "self", "", "extra", "\u{e9}", "`"]);
        let schemas = prop::collection::btree_map(names.clone(), inner.clone(), 0..4);
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (schemas, prop::collection::vec(names, 0..3), prop::option::of(inner.clone())).prop_map(
                |(properties, required, extra)| {
                    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": extra })
                }
            ),
            list.clone().prop_map(|list| json!({ "anyOf": list })),
            list.clone().prop_map(|list| json!({ "oneOf": list, "type": "object" })),
            list.prop_map(|list| json!({ "allOf": list })),
            inner.clone().prop_map(|items| json!({ "type": ["array", "null"], "items": items })),
            inner.prop_map(|values| json!({ "additionalProperties": values, "not": values })),
        ]
    })
}

proptest! {
    #[test]
    fn makes_rust_of_any_catalog(
        names in prop::collection::vec(".{0,6}", 3),
        schemas in prop::collection::vec(any_schema(), 4),
        template in "a://[{}a-z?+*:,%]{0,12}",
    ) {
        let mut input = schemas[0].clone();
        if let Value::Object(members) = &mut input {
            members.insert("$defs".to_owned(), json!({ "A": schemas[1], "b": schemas[2] }));
        }
        let tool = |name: &str| json!({ "name": name, "description": name, "inputSchema": input, "outputSchema": schemas[3] });
        let lists = json!({
            "protocol": "2025-11-25",
            "server": { "info": { "name": names[0], "version": names[1] }, "capabilities": {} },
            "tools": names.iter().map(|name| tool(name)).collect::<Vec<_>>(),
            "resourceTemplates": [{ "name": names[1], "uriTemplate": template }],
            "resources": [{ "name": names[0], "uri": names[2] }],
            "prompts": [{ "name": names[0], "arguments": [{ "name": names[1] }] }],
        });
        let catalog = catalog(&lists.to_string());
        let generated = Client::new().own_file(true).generate(&catalog).unwrap();
        prop_assert!(syn::parse_file(&generated.rust).is_ok(), "{}", generated.rust);
        prop_assert_eq!(Client::new().own_file(true).generate(&catalog).unwrap().rust, generated.rust);
    }
}

/// The catalog of a server with one tool.
fn one_tool(input: &Value) -> Catalog {
    let lists = json!({
        "protocol": "2025-11-25",
        "server": { "info": { "name": "one", "version": "1" }, "capabilities": {} },
        "tools": [{ "name": "tool", "inputSchema": input }],
    });
    catalog(&lists.to_string())
}

#[test]
fn large_schemas_become_any_json() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..30 {
        deep = json!({ "type": "object", "properties": { "a": deep } });
    }
    let wide: serde_json::Map<_, _> = (0..20_000)
        .map(|n| (format!("p{n}"), json!({ "type": "string" })))
        .collect();
    // Each schema has the next one twice, and each merge doubles the work.
    let doubling = (0..40).map(|n| {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        (format!("d{n}"), json!({ "allOf": [next, next] }))
    });
    let mut doubling: serde_json::Map<_, _> = doubling.collect();
    doubling.insert(
        "d40".to_owned(),
        json!({ "type": "object", "properties": { "a": {} } }),
    );
    let chain: serde_json::Map<_, _> = (0..2_000)
        .map(|n| {
            (
                format!("c{n}"),
                json!({ "type": "array", "items": { "$ref": format!("#/$defs/c{}", n + 1) } }),
            )
        })
        .collect();
    for (schema, is_lossless) in [
        (deep, true),
        (json!({ "type": "object", "properties": wide }), false),
        (json!({ "$ref": "#/$defs/d0", "$defs": doubling }), false),
        (
            json!({ "properties": { "a": { "$ref": "#/$defs/c0" } }, "$defs": chain }),
            false,
        ),
        // Its items are itself, and a merge follows references.
        (
            json!({ "properties": { "a": { "type": ["array", "null"], "items": { "allOf": [{ "$ref": "#/properties/a" }] } } } }),
            false,
        ),
    ] {
        let generated = Client::new().generate(&one_tool(&schema)).unwrap();
        assert!(syn::parse_file(&generated.rust).is_ok());
        assert_eq!(
            generated.warnings.is_empty(),
            is_lossless,
            "{:?}",
            generated.warnings.first()
        );
    }
}

#[test]
fn generates_what_is_wanted_under_the_wanted_name() {
    let text = fs::read_to_string(folder().join("types/catalog.json")).unwrap();
    let catalog = catalog(&text);
    let client = Client::new()
        .name("Desk")
        .only(["list_places", "travel://rules"]);
    let rust = client.generate(&catalog).unwrap().rust;
    assert!(rust.contains("pub struct Desk<C>") && rust.contains("pub fn rules(&self)"));
    assert!(!rust.contains("search_flights") && !rust.contains("Prompts"));
    let error = |client: Client| client.generate(&catalog).unwrap_err().to_string();
    assert_eq!(
        error(Client::new().only(["list_place"])),
        "the catalog has no `list_place`; there is `list_places`"
    );
    assert_eq!(
        error(Client::new().only(["zzz"])),
        "the catalog has no `zzz`; it has `search_flights`, `book`, `list_places`, `move_label`, `query`, `rules`, `hotel`, `plan-trip`, `greet`"
    );
    assert_eq!(
        error(Client::new().name("my desk")),
        "`my desk` cannot be the name of the client: expected a Rust type such as `MyDesk`"
    );
}

#[test]
fn a_build_script_generates_a_client() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = self::folder().join("types/catalog.json");
    let (path, warnings) = ClientBuild::new(&catalog).write_to(folder.path()).unwrap();
    assert_eq!(
        (path, warnings.len()),
        (folder.path().join("catalog.rs"), 0)
    );
    let text = fs::read_to_string(&catalog).unwrap();
    let marked = folder.path().join("marked.json");
    fs::write(&marked, format!("\u{feff}{text}")).unwrap();
    ClientBuild::new(&marked).write_to(folder.path()).unwrap();
    let broken = folder.path().join("broken.json");
    fs::write(&broken, "{}").unwrap();
    let error = ClientBuild::new(&broken)
        .write_to(folder.path())
        .unwrap_err();
    assert!(
        error.to_string().ends_with(
            "broken.json` is not a catalog: missing field `protocol` at line 1 column 2"
        ),
        "{error}"
    );
}
