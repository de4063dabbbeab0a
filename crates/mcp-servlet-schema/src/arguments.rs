//! Arguments as a person types them: `key=value`, read by the tool's input schema.
//!
//! `key=value` takes the value by the type that the schema gives the key: text as it stands, everything else as
//! JSON. `key:=json` takes JSON whatever the schema says.

mod expected;
mod outline;
mod words;

use serde_json::Value;

use crate::{
    JsonObject,
    text::{kind, similar},
    validate::coerce::integer,
};
pub use expected::{Expected, schema_type};
pub use outline::{SchemaField, schema_fields};
pub use words::schema_in_words;

/// Why arguments could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// There is no `=`.
    #[error("`{given}` is no argument: write `key=value`, or `key:=json`")]
    NoValue {
        /// The text in question.
        given: String,
    },
    /// There is no such argument.
    #[error("unknown argument `{key}`")]
    Unknown {
        /// The key in question.
        key: String,
        /// An argument whose name looks like it.
        similar: Option<String>,
        /// All that there are.
        known: Vec<String>,
    },
    /// A key occurs twice.
    #[error("argument `{key}` is given twice")]
    Twice {
        /// The key in question.
        key: String,
    },
    /// The value is not JSON, and only JSON could be meant.
    #[error("argument `{key}`: expected {expected}, but `{given}` is not JSON")]
    NotJson {
        /// The key in question.
        key: String,
        /// What the schema wants.
        expected: Expected,
        /// The text in question.
        given: String,
        /// What could stand there instead, in the form that was typed.
        example: String,
        /// Where it stops being JSON, if it began like it.
        source: Option<serde_json::Error>,
    },
    /// The value has another type or is not one of those that the schema lists.
    #[error("argument `{key}`: expected {expected}, but `{given}` is {found}")]
    Unexpected {
        /// The key in question.
        key: String,
        /// What the schema wants.
        expected: Expected,
        /// The text in question.
        given: String,
        /// What it is, in words.
        found: &'static str,
    },
}

impl ArgumentError {
    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Unknown {
                similar: Some(similar),
                ..
            } => Some(format!("did you mean `{similar}`?")),
            Self::Unknown { known, .. } if known.is_empty() => {
                Some("there are no arguments".into())
            }
            Self::Unknown { known, .. } => Some(format!("there is `{}`", known.join("`, `"))),
            Self::NotJson { example, .. } => Some(example.clone()),
            _ => None,
        }
    }
}

/// Reads arguments by the input schema of a tool.
///
/// Whether all that are required are there, the tool itself decides.
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
    let expected = Expected::of(schema, property(schema, key)?);
    Ok((key, expected.read(key, text)?))
}

/// The schema of one argument.
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
        if self.is_text() {
            return self.check(key, text, Value::from(text));
        }
        let value = serde_json::from_str(text).map(|value: Value| match integer(text) {
            Some(integer) if value.is_f64() && !self.accepts_floats() => integer,
            _ => value,
        });
        match value {
            Ok(value) if self.accepts(&value) => Ok(value),
            // Text where other types are possible too, but this is none of them.
            _ if self.accepts(&Value::from(text)) => Ok(Value::from(text)),
            Ok(value) => self.check(key, text, value),
            Err(_) => {
                let example = format!("{key}={}", self.example());
                json(key, text, self, example)
            }
        }
    }

    fn check(self, key: &str, text: &str, value: Value) -> Result<Value, ArgumentError> {
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
