//! The schema of a new project, as JSON for the template's plugin.

use std::path::Path;

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::Value;

use crate::{
    failure::{Failure, Kind},
    generate,
};

/// The interface of MCP servlets.
const INTERFACE: &str = include_str!("../../../../schema.yaml");

/// Reads YAML or JSON, or takes the interface of MCP servlets.
///
/// With `check`, a schema that our template could not use is shown with all its problems.
pub(super) fn read(path: Option<&Path>, check: bool) -> Result<Value, Failure> {
    let Some(path) = path else {
        return parse(INTERFACE).map_err(|problem| Failure::new(Kind::Usage, problem));
    };
    let text = generate::read(path)?;
    if check {
        generate::check(&path.display().to_string(), &text)?;
    }
    parse(&text).map_err(|problem| {
        let message = format!("cannot read `{}`: {problem}", path.display());
        Failure::new(Kind::Usage, message)
    })
}

fn parse(text: &str) -> Result<Value, String> {
    let text = xtp_codegen::without_surrogates(text);
    let documents = Yaml::load_from_str(&text).map_err(|error| error.to_string())?;
    match &*documents {
        [document] => json(document),
        several => Err(format!("expected one document, found {}", several.len())),
    }
}

/// The same value in JSON. The order of keys stays.
fn json(yaml: &Yaml<'_>) -> Result<Value, String> {
    match yaml {
        Yaml::Value(Scalar::Null) => Ok(Value::Null),
        Yaml::Value(Scalar::Boolean(value)) => Ok((*value).into()),
        Yaml::Value(Scalar::Integer(value)) => Ok((*value).into()),
        Yaml::Value(Scalar::FloatingPoint(value)) => Ok(value.into_inner().into()),
        Yaml::Value(Scalar::String(value)) => Ok(value.as_ref().into()),
        Yaml::Sequence(items) => items.iter().map(json).collect(),
        Yaml::Mapping(map) => map
            .iter()
            .map(|(key, value)| match key.as_str() {
                Some(key) => Ok((key.to_owned(), json(value)?)),
                None => Err("a key is not text".to_owned()),
            })
            .collect(),
        Yaml::Tagged(_, value) => json(value),
        Yaml::Alias(_) | Yaml::BadValue | Yaml::Representation(..) => {
            Err("it says something that JSON cannot say".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_escape_of_json() {
        let parsed = parse(r#"{"description": "smile \ud83d\ude00", "z": 1, "a": {}}"#);
        let text = parsed.map(|value| value.to_string());
        let expected = r#"{"description":"smile 😀","z":1,"a":{}}"#;
        assert_eq!(text, Ok(expected.to_owned()));
    }
}
