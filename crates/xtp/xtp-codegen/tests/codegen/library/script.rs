//! Values as JavaScript sees them: which are falsy, how it prints them, and in which order it visits keys.

use saphyr::{Scalar, Yaml};

/// The library's failure with a `TypeError`.
pub(super) struct TypeError;

pub(super) type Result<T> = std::result::Result<T, TypeError>;

/// Whether JavaScript takes the value for true.
pub(super) fn is_truthy(node: &Yaml<'_>) -> bool {
    match node {
        Yaml::Value(scalar) => match scalar {
            Scalar::Null => false,
            Scalar::Boolean(value) => *value,
            Scalar::Integer(number) => *number != 0,
            Scalar::FloatingPoint(number) => number.into_inner() != 0.0,
            Scalar::String(text) => !text.is_empty(),
        },
        _ => true,
    }
}

/// A property. A value that is not an object has none.
pub(super) fn get<'n, 'a>(node: &'n Yaml<'a>, key: &str) -> Option<&'n Yaml<'a>> {
    let Yaml::Mapping(map) = node else {
        return None;
    };
    let mut entries = map.iter();
    entries.find_map(|(found, value)| (found.as_str() == Some(key)).then_some(value))
}

/// A property, if JavaScript takes it for true.
pub(super) fn truthy<'n, 'a>(node: &'n Yaml<'a>, key: &str) -> Option<&'n Yaml<'a>> {
    get(node, key).filter(|value| is_truthy(value))
}

/// The entries of an object in the order in which JavaScript visits them: whole numbers first.
pub(super) fn entries<'n, 'a>(node: &'n Yaml<'a>) -> Vec<(&'n str, &'n Yaml<'a>)> {
    let Yaml::Mapping(map) = node else {
        return Vec::new();
    };
    let mut entries: Vec<_> = map
        .iter()
        .map(|(key, value)| (key.as_str().unwrap(), value))
        .collect();
    entries.sort_by_key(|(key, _)| index(key).unwrap_or(u64::MAX));
    entries
}

/// The keys that `for … in` visits.
pub(super) fn keys(node: &Yaml<'_>) -> Vec<String> {
    let count = match node {
        Yaml::Mapping(_) => {
            let entries = entries(node).into_iter();
            return entries.map(|(key, _)| key.to_owned()).collect();
        }
        Yaml::Sequence(items) => items.len(),
        Yaml::Value(Scalar::String(text)) => text.encode_utf16().count(),
        _ => 0,
    };
    (0..count).map(|index| index.to_string()).collect()
}

/// The values that `for … of` visits: the items of a list, or the characters of a string.
pub(super) fn items<'a>(node: &Yaml<'a>) -> Result<Vec<Yaml<'a>>> {
    match node {
        Yaml::Sequence(items) => Ok(items.clone()),
        Yaml::Value(Scalar::String(text)) => {
            let characters = text.chars().map(|c| c.to_string().into());
            Ok(characters
                .map(|text| Yaml::Value(Scalar::String(text)))
                .collect())
        }
        _ => Err(TypeError),
    }
}

/// The number of a key that JavaScript sorts as a number.
fn index(key: &str) -> Option<u64> {
    let number = key.parse::<u32>().ok()?;
    (number.to_string() == key && number < u32::MAX).then_some(u64::from(number))
}

/// The library's text for a value: JSON for objects and lists, else the plain value.
pub(super) fn stringify(value: Option<&Yaml<'_>>) -> String {
    match value {
        Some(node @ (Yaml::Sequence(_) | Yaml::Mapping(_))) => json(node),
        _ => template(value),
    }
}

/// A value as JavaScript puts it into a template string.
pub(super) fn template(value: Option<&Yaml<'_>>) -> String {
    let Some(node) = value else {
        return "undefined".to_owned();
    };
    match node {
        Yaml::Value(Scalar::Boolean(value)) => value.to_string(),
        Yaml::Value(Scalar::Integer(number)) => number.to_string(),
        Yaml::Value(Scalar::FloatingPoint(number)) => number.to_string(),
        Yaml::Value(Scalar::String(text)) => text.clone().into_owned(),
        Yaml::Sequence(items) => {
            let items = items.iter().map(|item| match item {
                Yaml::Value(Scalar::Null) => String::new(),
                _ => template(Some(item)),
            });
            items.collect::<Vec<_>>().join(",")
        }
        Yaml::Mapping(_) => "[object Object]".to_owned(),
        _ => "null".to_owned(),
    }
}

fn json(node: &Yaml<'_>) -> String {
    match node {
        Yaml::Value(Scalar::String(text)) => serde_json::Value::from(text.as_ref()).to_string(),
        Yaml::Sequence(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
        Yaml::Mapping(_) => {
            let entries = entries(node).into_iter().map(|(key, value)| {
                let key = serde_json::Value::from(key);
                format!("{key}:{}", json(value))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        _ => template(Some(node)),
    }
}
