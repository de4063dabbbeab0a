//! Arguments as a person types them: `key=value`, read according to the input schema of the tool.
//!
//! The type of the key in the schema decides how `key=value` is read: a string is used as
//! typed, anything else is read as JSON. `key:=json` is always JSON.

mod expected;
mod outline;
mod words;

use serde_json::Value;

use crate::{
    JsonObject,
    text::{kind, similar},
    validate::{coerce::integer, example::example_of},
};
use expected::in_quotes;
pub use expected::{Choice, Expected, as_typed, schema_type};
pub use outline::{SchemaField, schema_fields};
pub use words::schema_in_words;

/// Why arguments could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The argument contains no `=`.
    #[error("expected `key=value` or `key:=json`, found `{given}`")]
    NoValue {
        /// The text that was typed.
        given: String,
    },
    /// The schema has no argument with this name.
    #[error("unknown argument `{key}`")]
    Unknown {
        /// The key that was typed.
        key: String,
        /// An argument with a similar name.
        similar: Option<String>,
        /// All arguments of the schema.
        known: Vec<String>,
    },
    /// The same key was given twice.
    #[error("duplicate argument `{key}`")]
    Twice {
        /// The key.
        key: String,
    },
    /// The value is not JSON, and the schema does not accept a string.
    #[error("argument `{key}`: expected {expected}, found `{given}`")]
    NotJson {
        /// The key.
        key: String,
        /// What the schema expects.
        expected: Expected,
        /// The text that was typed.
        given: String,
        /// A valid argument, in the form that was typed.
        example: String,
        /// The syntax error, if the text begins like JSON.
        source: Option<serde_json::Error>,
    },
    /// The value has the wrong type, or is not one of the values that the schema lists.
    #[error("argument `{key}`: expected {expected}, but `{given}` is {found}")]
    Unexpected {
        /// The key.
        key: String,
        /// What the schema expects.
        expected: Expected,
        /// The text that was typed.
        given: String,
        /// The type of the value in words.
        found: &'static str,
    },
}

impl ArgumentError {
    /// How to fix the error, if there is advice.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Unknown {
                similar: Some(similar),
                ..
            } => Some(format!("did you mean `{similar}`?")),
            Self::Unknown { known, .. } if known.is_empty() => {
                Some("there are no arguments".into())
            }
            Self::Unknown { known, .. } => {
                Some(format!("known arguments: `{}`", known.join("`, `")))
            }
            Self::NotJson { example, .. } => Some(example.clone()),
            _ => None,
        }
    }

    /// The same error. Its example has the items or members that the schema of the argument describes, if it does.
    fn with_example(mut self, root: &JsonObject, property: &Value) -> Self {
        if let Self::NotJson { key, example, .. } = &mut self
            && let Some(value) = example_of(property, &Value::Object(root.clone()))
            && (value.get(0).is_some()
                || value.as_object().is_some_and(|members| !members.is_empty()))
        {
            *example = format!("{key}={}", in_quotes(&value));
        }
        self
    }
}

/// Reads arguments according to the input schema of a tool.
///
/// Missing arguments are not an error here; the tool checks that itself.
///
/// # Errors
/// [`ArgumentError`] for the first argument that cannot be read.
pub fn parse_arguments<S: AsRef<str>>(
    schema: &JsonObject,
    given: &[S],
) -> Result<JsonObject, ArgumentError> {
    let mut arguments = JsonObject::new();
    for given in given {
        let (key, value) = parse_argument(schema, given.as_ref())?;
        if arguments.contains_key(key) {
            return Err(ArgumentError::Twice {
                key: key.to_owned(),
            });
        }
        arguments.insert(key.to_owned(), value);
    }
    Ok(arguments)
}

/// Reads the value of a property of `root` as `key=value` is read.
///
/// # Errors
/// [`ArgumentError`] if the property does not accept what the text says.
pub fn parse_value(
    root: &JsonObject,
    property: &Value,
    key: &str,
    text: &str,
) -> Result<Value, ArgumentError> {
    let value = Expected::of(root, property).read(key, text);
    value.map_err(|error| error.with_example(root, property))
}

fn parse_argument<'a>(
    schema: &JsonObject,
    given: &'a str,
) -> Result<(&'a str, Value), ArgumentError> {
    let split = given
        .split_once('=')
        .filter(|(key, _)| !key.is_empty() && *key != ":");
    let (key, text) = split.ok_or_else(|| ArgumentError::NoValue {
        given: given.to_owned(),
    })?;
    if let Some(key) = key.strip_suffix(':') {
        let example = Expected::of(schema, property(schema, key)?).json_example();
        let example = format!("{key}:={example}");
        return Ok((key, json(key, text, Expected::anything(), example)?));
    }
    let value = parse_value(schema, property(schema, key)?, key, text)?;
    Ok((key, value))
}

/// The schema of an argument.
fn property<'a>(schema: &'a JsonObject, key: &str) -> Result<&'a Value, ArgumentError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let Some(property) = properties.and_then(|properties| properties.get(key)) {
        return Ok(property);
    }
    if let Some(others @ (Value::Bool(true) | Value::Object(_))) =
        schema.get("additionalProperties")
    {
        return Ok(others);
    }
    let known: Vec<String> = properties
        .into_iter()
        .flat_map(JsonObject::keys)
        .cloned()
        .collect();
    Err(ArgumentError::Unknown {
        key: key.to_owned(),
        similar: similar(key, known.iter().map(String::as_str)).map(str::to_owned),
        known,
    })
}

fn json(
    key: &str,
    text: &str,
    expected: Expected,
    example: String,
) -> Result<Value, ArgumentError> {
    serde_json::from_str(text).map_err(|source| ArgumentError::NotJson {
        key: key.to_owned(),
        expected,
        given: text.to_owned(),
        example,
        source: text.starts_with(['[', '{', '"']).then_some(source),
    })
}

impl Expected {
    fn read(self, key: &str, text: &str) -> Result<Value, ArgumentError> {
        if let Some(value) = self.titled(text)
            && !self.accepts(&Value::from(text))
        {
            return Ok(value.clone());
        }
        if self.is_text() {
            return self.check_value(key, text, Value::from(text));
        }
        let value = serde_json::from_str(text).map(|value: Value| match integer(text) {
            Some(integer) if value.is_f64() && !self.accepts_floats() => integer,
            _ => value,
        });
        match value {
            Ok(value) if self.accepts(&value) => Ok(value),
            // The schema also accepts a string, and the value matches none of the other types.
            _ if self.accepts(&Value::from(text)) => Ok(Value::from(text)),
            Ok(value) => self.check_value(key, text, value),
            Err(_) => {
                let example = format!("{key}={}", self.example());
                json(key, text, self, example)
            }
        }
    }

    fn check_value(self, key: &str, text: &str, value: Value) -> Result<Value, ArgumentError> {
        if self.accepts(&value) {
            return Ok(value);
        }
        Err(ArgumentError::Unexpected {
            key: key.to_owned(),
            found: if self.is_list() {
                "not in the list"
            } else {
                kind(&value)
            },
            expected: self,
            given: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
