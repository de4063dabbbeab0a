//! Values as JavaScript sees them: which are falsy, how it prints them, and in which order it visits keys.

use crate::node::{Entry, Node, Value};

/// The library's failure with a `TypeError`.
pub(super) struct TypeError;

pub(super) type Result<T> = std::result::Result<T, TypeError>;

impl Node {
    /// Whether JavaScript takes the value for true.
    pub(super) fn is_truthy(&self) -> bool {
        self.value.is_truthy()
    }

    /// A property. A value that is not an object has none.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(entries) = &self.value else {
            return None;
        };
        let found = entries.iter().find(|entry| entry.key.text == key)?;
        Some(&found.value)
    }

    /// A property, if JavaScript takes it for true.
    pub(super) fn truthy(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|value| value.is_truthy())
    }

    /// The entries in the order in which JavaScript visits them: whole numbers first.
    pub(super) fn entries(&self) -> Vec<&Entry> {
        let Value::Map(entries) = &self.value else {
            return Vec::new();
        };
        let mut entries: Vec<&Entry> = entries.iter().collect();
        entries.sort_by_key(|entry| index(&entry.key.text).unwrap_or(u64::MAX));
        entries
    }

    /// The keys that `for … in` visits.
    pub(super) fn keys(&self) -> Vec<String> {
        let count = match &self.value {
            Value::Map(_) => {
                let entries = self.entries();
                return entries.iter().map(|entry| entry.key.text.clone()).collect();
            }
            Value::List(items) => items.len(),
            Value::Text(text) => text.encode_utf16().count(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        };
        (0..count).map(|index| index.to_string()).collect()
    }

    /// The values that `for … of` visits: the items of a list, or the characters of a string.
    pub(super) fn items(&self) -> Result<Vec<Node>> {
        match &self.value {
            Value::List(items) => Ok(items.clone()),
            Value::Text(text) => {
                let characters = text.chars();
                Ok(characters
                    .map(|character| Node {
                        span: self.span,
                        value: Value::Text(character.to_string()),
                    })
                    .collect())
            }
            _ => Err(TypeError),
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The number of a key that JavaScript sorts as a number.
fn index(key: &str) -> Option<u64> {
    let number = key.parse::<u32>().ok()?;
    (number.to_string() == key && number < u32::MAX).then_some(u64::from(number))
}

/// The library's text for a value: JSON for objects and lists, else the plain value.
pub(super) fn stringify(value: Option<&Node>) -> String {
    match value.map(|node| &node.value) {
        Some(Value::List(_) | Value::Map(_)) => value.map_or_else(String::new, json),
        _ => template(value),
    }
}

/// A value as JavaScript puts it into a template string.
pub(super) fn template(value: Option<&Node>) -> String {
    let Some(node) = value else {
        return "undefined".to_owned();
    };
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_script(),
        Value::Text(text) => text.clone(),
        Value::List(items) => {
            let items = items.iter().map(|item| match item.value {
                Value::Null => String::new(),
                _ => template(Some(item)),
            });
            items.collect::<Vec<_>>().join(",")
        }
        Value::Map(_) => "[object Object]".to_owned(),
    }
}

fn json(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(_) => {
            let entries = node.entries().into_iter().map(|entry| {
                let key = serde_json::Value::from(entry.key.text.as_str());
                format!("{key}:{}", json(&entry.value))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => template(Some(node)),
    }
}
