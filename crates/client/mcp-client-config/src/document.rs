//! Text of a configuration file as a value: JSON with comments and trailing commas, TOML, or YAML.

use std::path::Path;

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::Value;

/// Parses the text by the extension of the path. The error says what is wrong.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Value, String> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => parse_toml(text),
        Some("yaml" | "yml") => parse_yaml(text),
        _ => parse_json(text),
    }
}

fn parse_json(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| error.to_string())?;
    Ok(parsed.value.map_or(Value::Null, Value::from))
}

/// The error does not quote the text, which may have secrets.
fn parse_toml(text: &str) -> Result<Value, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.unwrap_or_default().matches('\n').count() + 1;
        format!("{} on line {line}", error.message())
    })
}

fn parse_yaml(text: &str) -> Result<Value, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| error.to_string())?;
    Ok(documents.first().map_or(Value::Null, from_yaml))
}

/// Keys that are not strings and tags of YAML have no place in a configuration, and are left out.
fn from_yaml(node: &Yaml<'_>) -> Value {
    match node {
        Yaml::Value(Scalar::Boolean(value)) => Value::from(*value),
        Yaml::Value(Scalar::Integer(value)) => Value::from(*value),
        Yaml::Value(Scalar::FloatingPoint(value)) => Value::from(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => Value::from(&**value),
        Yaml::Sequence(items) => items.iter().map(from_yaml).collect(),
        Yaml::Mapping(members) => {
            let members = members.iter();
            let members = members
                .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), from_yaml(value))));
            members.collect()
        }
        _ => Value::Null,
    }
}
