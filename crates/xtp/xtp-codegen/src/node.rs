//! The source as a tree of nodes with positions.
//!
//! JSON is read in the same way: except for rare escapes it is a subset of YAML. Aliases and merge
//! keys are resolved. Tags are refused, because a schema must mean the same as JSON.

mod aliases;
mod load;
mod merge;
mod surrogates;

pub(crate) use self::load::load;
use self::surrogates::without_surrogates;
use crate::diagnostic::Diagnostics;
use crate::span::{Origin, Span};

/// Converts YAML to JSON, with aliases and merge keys resolved. The document need not be a schema.
///
/// # Errors
/// If the text is neither YAML nor JSON, or contains something that JSON cannot express.
pub fn to_json(name: &str, text: &str) -> Result<serde_json::Value, Diagnostics> {
    load(text, &Origin::new(name, text)).map(Node::into_json)
}

/// A value with its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// A JSON value, with the entries of a map in the order of the source.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// XTP uses no numbers, but messages show them.
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

impl Node {
    fn into_json(self) -> serde_json::Value {
        match self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Number(Number(number)) => number.into(),
            Value::Text(text) => text.into(),
            Value::List(items) => items.into_iter().map(Self::into_json).collect(),
            Value::Map(entries) => {
                let to_json = |entry: Entry| (entry.key.text, entry.value.into_json());
                serde_json::Value::Object(entries.into_iter().map(to_json).collect())
            }
        }
    }
}

impl Value {
    /// Whether JavaScript, and so the official library, takes the value for true.
    pub(crate) fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(number) => !number.is_zero(),
            Self::Text(text) => !text.is_empty(),
            Self::List(_) | Self::Map(_) => true,
        }
    }

    /// The name of this kind of value in messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

/// A number in one spelling, as JSON writes it.
#[derive(Clone, Debug)]
pub(crate) struct Number(pub(crate) serde_json::Number);

impl Number {
    fn is_zero(&self) -> bool {
        self.0.as_f64() == Some(0.0)
    }
}

/// One entry of a map.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) value: Node,
}

/// The key of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) text: String,
    /// Whether it is YAML's merge key. `load` leaves none of them.
    pub(crate) is_merge: bool,
    pub(crate) span: Span,
}
