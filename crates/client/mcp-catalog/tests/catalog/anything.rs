//! Lists of any form make a catalog.

use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use crate::support::{assert_operation_ids, assert_references, assert_valid, catalog_of};

/// Names of members that mean something somewhere.
const NAMES: [&str; 24] = [
    "name",
    "title",
    "description",
    "icons",
    "annotations",
    "_meta",
    "inputSchema",
    "outputSchema",
    "uri",
    "uriTemplate",
    "mimeType",
    "size",
    "arguments",
    "required",
    "ui",
    "ui/resourceUri",
    "resourceUri",
    "csp",
    "type",
    "properties",
    "$ref",
    "$schema",
    "pattern",
    "anyOf",
];

/// Strings that mean something somewhere.
const STRINGS: [&str; 12] = [
    "",
    "a",
    "A",
    "object",
    "string",
    "#",
    "#/properties/a",
    "https://example.com/x",
    "ui://a",
    "a://{b}",
    "a://{",
    "(\u{200b}",
];

fn value() -> impl Strategy<Value = Value> {
    let name = || prop_oneof![select(&NAMES[..]).prop_map(str::to_owned), any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(&STRINGS[..]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((name(), inner), 0..4)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn entries() -> impl Strategy<Value = Value> {
    let entry = vec((select(&NAMES[..]), value()), 0..10);
    let entry = entry.prop_map(|members| {
        let members = members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        Value::from(members.collect::<Map<_, _>>())
    });
    vec(prop_oneof![9 => entry, 1 => value()], 0..3).prop_map(Value::from)
}

proptest! {
    #[test]
    fn every_entry_becomes_an_item(
        info in value(),
        capabilities in value(),
        [tools, resources, templates, prompts] in [entries(), entries(), entries(), entries()],
    ) {
        let lists = [&tools, &resources, &templates, &prompts];
        let entries: usize = lists.iter().map(|list| list.as_array().map_or(0, Vec::len)).sum();
        let catalog = catalog_of(&json!({
            "protocol": "2025-11-25",
            "server": { "info": info, "capabilities": capabilities },
            "tools": tools,
            "resources": resources,
            "resourceTemplates": templates,
            "prompts": prompts,
        }).to_string());
        assert_valid(&catalog);
        prop_assert_eq!(catalog.items.len(), entries);
        let document = catalog.to_openapi().document;
        assert_references(&document);
        assert_operation_ids(&document);
    }
}
