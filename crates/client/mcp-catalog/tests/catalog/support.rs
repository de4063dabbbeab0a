//! What the tests share.

use std::{collections::HashSet, sync::LazyLock};

use mcp_catalog::{Catalog, JsonObject, Lists};
use serde_json::{Value, json};

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

/// Compiles the component of an OpenAPI document that a reference leads to. Fails if one of its references leads nowhere.
pub(crate) fn component(document: &JsonObject, reference: &str) -> jsonschema::Validator {
    let schema = json!({ "$ref": reference, "components": document["components"] });
    let options = jsonschema::options().offline();
    let options = options.with_draft(jsonschema::Draft::Draft202012);
    options.build(&schema).expect("a component is a schema")
}

/// Fails unless all references of an OpenAPI document lead to schemas of dialect 2020-12.
pub(crate) fn assert_references(document: &JsonObject) {
    let schemas = document["components"]["schemas"].as_object();
    for name in schemas.expect("schemas").keys() {
        component(document, &format!("#/components/schemas/{name}"));
    }
}

/// Fails if two operations of an OpenAPI document have the same id.
pub(crate) fn assert_operation_ids(document: &JsonObject) {
    let paths = document["paths"].as_object().expect("paths").values();
    let operations = paths.flat_map(|path| path.as_object().expect("a path").values());
    let mut ids = HashSet::new();
    for operation in operations {
        let id = operation["operationId"].as_str().expect("an id");
        assert!(ids.insert(id), "{id}");
    }
}
