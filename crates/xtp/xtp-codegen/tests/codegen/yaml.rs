//! Reads YAML without the crate under test.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Value, json};

/// Reads a source that has one document.
pub(crate) fn load(text: &str) -> Yaml<'_> {
    let mut documents = Yaml::load_from_str(text).unwrap();
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// Reads a source that has one document, as JSON.
pub(crate) fn to_json(text: &str) -> Value {
    convert(&load(text))
}

fn convert(yaml: &Yaml<'_>) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => json!(value),
        Yaml::Value(Scalar::Integer(value)) => json!(value),
        Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
        Yaml::Value(Scalar::String(text)) => json!(text),
        Yaml::Sequence(items) => items.iter().map(convert).collect(),
        Yaml::Mapping(map) => map
            .iter()
            .map(|(key, value)| (key.as_str().unwrap(), convert(value)))
            .collect(),
        other => panic!("{other:?} has no counterpart in JSON"),
    }
}
