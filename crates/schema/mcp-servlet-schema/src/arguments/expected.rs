//! The types or values that a schema accepts, as far as a command line needs them.

use std::fmt;

use mcp_servlet_common::unescape_pointer;
use serde_json::Value;

use crate::JsonObject;

const TYPES: [&str; 7] = [
    "string", "integer", "number", "boolean", "array", "object", "null",
];

/// How many consecutive `$ref`s are followed.
const MAX_REFERENCES: usize = 16;

/// The types or values that a schema accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// One of these types; empty if any type is accepted.
    Types(Vec<&'static str>),
    /// One of these values.
    Values(Vec<Choice>),
}

/// A value that a schema lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value.
    pub value: Value,
    /// What people call it, from `title` next to `const`, or from `enumNames`.
    pub title: Option<String>,
}

/// The type of a property of `root` in the terms of JSON Schema: `string`, `integer or null`, `"a" or "b"`.
pub fn schema_type(root: &JsonObject, property: &Value) -> Expected {
    Expected::of(root, property)
}

impl Expected {
    pub(super) const fn anything() -> Self {
        Self::Types(Vec::new())
    }

    pub(super) fn of(root: &JsonObject, schema: &Value) -> Self {
        Self::find(root, schema, MAX_REFERENCES)
    }

    fn find(root: &JsonObject, schema: &Value, depth: usize) -> Self {
        let Some(schema) = schema.as_object().filter(|_| depth > 0) else {
            return Self::anything();
        };
        let types = schema.get("type").map_or(Vec::new(), types_in);
        Self::listed(schema)
            .or_else(|| Self::composed(root, schema, depth - 1))
            .filter(|found| found.is_list() || types.is_empty())
            .unwrap_or(Self::Types(types))
    }

    /// The values of `enum` or `const`.
    fn listed(schema: &JsonObject) -> Option<Self> {
        if let Some(Value::Array(values)) = schema.get("enum") {
            let titles = schema.get("enumNames").unwrap_or(&Value::Null);
            let choices = values
                .iter()
                .enumerate()
                .map(|(at, value)| Choice::new(value, &titles[at]));
            return Some(Self::Values(choices.collect()));
        }
        let title = schema.get("title").unwrap_or(&Value::Null);
        let value = schema.get("const")?;
        Some(Self::Values(vec![Choice::new(value, title)]))
    }

    /// What the keywords accept that combine other schemas: `$ref`, `anyOf`, `oneOf` and `allOf`.
    fn composed(root: &JsonObject, schema: &JsonObject, depth: usize) -> Option<Self> {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return Some(Self::find(root, lookup(root, target)?, depth));
        }
        let branches = |key| schema.get(key).and_then(Value::as_array);
        if let Some(branches) = branches("anyOf").or_else(|| branches("oneOf")) {
            let all = branches
                .iter()
                .map(|branch| Self::find(root, branch, depth));
            return all.reduce(Self::or);
        }
        let all: Vec<_> = branches("allOf")
            .into_iter()
            .flatten()
            .map(|branch| Self::find(root, branch, depth))
            .collect();
        let list = all.iter().find(|found| found.is_list());
        list.or_else(|| all.iter().find(|found| **found != Self::anything()))
            .cloned()
    }

    /// One or the other. A list of values combined with types counts as the types of its values.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Values(mut left), Self::Values(right)) => {
                left.extend(right);
                Self::Values(left)
            }
            // `Option` of an enum: its values and `null`.
            (Self::Values(mut values), Self::Types(types))
            | (Self::Types(types), Self::Values(mut values))
                if types == ["null"] =>
            {
                values.push(Choice::new(&Value::Null, &Value::Null));
                Self::Values(values)
            }
            (left, right) => match (left.types(), right.types()) {
                (left, right) if left.is_empty() || right.is_empty() => Self::anything(),
                (mut left, right) => {
                    left.extend(right);
                    left.dedup();
                    Self::Types(left)
                }
            },
        }
    }

    fn types(self) -> Vec<&'static str> {
        match self {
            Self::Types(types) => types,
            Self::Values(values) => values.iter().map(|one| type_of(&one.value)).collect(),
        }
    }

    /// Whether the text on the command line is the value: only strings are accepted, apart from null.
    pub(super) fn is_text(&self) -> bool {
        match self {
            Self::Types(types) => {
                types.contains(&"string") && types.iter().all(|ty| matches!(*ty, "string" | "null"))
            }
            Self::Values(values) => values.iter().all(|one| one.value.is_string()),
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::Values(_))
    }

    /// Whether a number may have a fraction. If so, it is passed on exactly as typed.
    pub(super) fn accepts_floats(&self) -> bool {
        match self {
            Self::Values(values) => values.iter().any(|one| one.value.is_f64()),
            Self::Types(types) => types.is_empty() || types.contains(&"number"),
        }
    }

    pub(super) fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Values(values) => values.iter().any(|one| one.value == *value),
            Self::Types(types) if types.is_empty() => true,
            Self::Types(types) => types.iter().any(|ty| matches_type(ty, value)),
        }
    }

    /// The value that has this title.
    pub(super) fn titled(&self, title: &str) -> Option<&Value> {
        let Self::Values(values) = self else {
            return None;
        };
        let is_titled = |one: &&Choice| one.title.as_deref() == Some(title);
        values.iter().find(is_titled).map(|one| &one.value)
    }

    /// A value as a person would type it.
    pub(super) fn example(&self) -> String {
        match self {
            Self::Values(values) => values
                .first()
                .map(|one| as_typed(&one.value))
                .unwrap_or_default(),
            Self::Types(types) => match types.first() {
                Some(&"integer" | &"number") => "3".into(),
                Some(&"boolean") => "true".into(),
                Some(&"array") => "'[\"a\", \"b\"]'".into(),
                Some(&"object") => "'{\"a\": 1}'".into(),
                Some(&"null") => "null".into(),
                _ => "'\"text\"'".into(),
            },
        }
    }

    /// The same value as JSON.
    pub(super) fn json_example(&self) -> String {
        match self {
            Self::Values(values) => values
                .first()
                .map(|one| in_quotes(&one.value))
                .unwrap_or_default(),
            Self::Types(_) => self.example(),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = match self {
            Self::Types(types) if types.is_empty() => vec!["any JSON".into()],
            Self::Types(types) => types.iter().map(ToString::to_string).collect(),
            Self::Values(values) => values.iter().map(ToString::to_string).collect(),
        };
        f.write_str(&words.join(" or "))
    }
}

impl Choice {
    fn new(value: &Value, title: &Value) -> Self {
        let title = title.as_str().filter(|title| value != title);
        Self {
            value: value.clone(),
            title: title.map(str::to_owned),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&as_typed(&self.value))?;
        match &self.title {
            Some(title) => write!(f, " ({title})"),
            None => Ok(()),
        }
    }
}

/// A value as a person types it: a string without quotes, anything else in JSON.
pub fn as_typed(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A value as JSON, quoted for a shell.
pub(super) fn in_quotes(value: &Value) -> String {
    let text = value.to_string();
    match value {
        Value::String(_) | Value::Array(_) | Value::Object(_) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => text,
    }
}

fn types_in(types: &Value) -> Vec<&'static str> {
    let known = |name: &Value| TYPES.into_iter().find(|ty| name == ty);
    match types {
        Value::Array(names) => names.iter().filter_map(known).collect(),
        name => known(name).into_iter().collect(),
    }
}

fn type_of(value: &Value) -> &'static str {
    TYPES
        .into_iter()
        .find(|ty| matches_type(ty, value))
        .unwrap_or("null")
}

fn matches_type(ty: &str, value: &Value) -> bool {
    match value {
        Value::Null => ty == "null",
        Value::Bool(_) => ty == "boolean",
        Value::String(_) => ty == "string",
        Value::Array(_) => ty == "array",
        Value::Object(_) => ty == "object",
        Value::Number(number) => {
            // In JSON Schema, 5.0 is an integer.
            let whole = number.as_f64().is_some_and(|value| value.fract() == 0.0);
            ty == "number" || (ty == "integer" && whole)
        }
    }
}

/// The schema itself, or the schema in `root` that its `$ref` refers to.
pub(super) fn resolve<'a>(root: &'a JsonObject, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_REFERENCES {
        let target = schema["$ref"]
            .as_str()
            .and_then(|reference| match reference {
                "#" => None,
                reference => lookup(root, reference),
            });
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Resolves a reference such as `#/$defs/Name`.
fn lookup<'a>(root: &'a JsonObject, reference: &str) -> Option<&'a Value> {
    let mut steps = reference.strip_prefix("#/")?.split('/');
    let first = root.get(steps.next()?)?;
    steps.try_fold(first, |at, step| at.get(unescape_pointer(step)))
}
