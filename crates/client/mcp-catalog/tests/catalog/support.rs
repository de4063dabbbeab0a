//! What the tests share.

use std::sync::LazyLock;

use mcp_catalog::{Catalog, Lists};
use serde_json::Value;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../../docs/catalog.schema.json"))
            .expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
});

/// The catalog of lists as JSON.
pub(crate) fn catalog_of(lists: &str) -> Catalog {
    let lists: Lists = serde_json::from_str(lists).expect("lists");
    let mut catalog = Catalog::from(&lists);
    catalog.check_schemas();
    catalog
}

/// Fails unless a catalog matches its JSON Schema and can be read back.
pub(crate) fn assert_valid(catalog: &Catalog) {
    let text = serde_json::to_string(catalog).expect("a catalog is JSON");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let errors: Vec<_> = SCHEMA
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
    let again: Catalog = serde_json::from_str(&text).expect("a catalog can be read back");
    assert_eq!(&again, catalog);
    assert_eq!(
        serde_json::to_string(&again).expect("a catalog is JSON"),
        text
    );
}
