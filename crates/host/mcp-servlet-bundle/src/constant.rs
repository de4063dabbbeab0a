//! Constants, and the schemas that they must match.

use mcp_servlet_schema::{Validator, kind};
use serde_json::{Map, Value, json};

use crate::input_schema::DEFINITIONS;

/// The maximum length of a schema in a message, in bytes.
const MAX_SHOWN_SCHEMA: usize = 200;

/// What takes constants.
pub(crate) struct Taker<'a> {
    /// Its name in messages, such as `weather:get_weather`.
    pub(crate) name: &'a str,
    /// Its schema.
    pub(crate) schema: &'a Value,
}

impl Taker<'_> {
    /// The problem with a constant that does not match a part of the schema. `at` is the place of the part in words. `None` if
    /// the constant matches, or if that cannot be checked. The text never shows the constant, which may be secret.
    pub(crate) fn problem(&self, part: &Value, at: &str, constant: &Value) -> Option<String> {
        if accepts(self.schema, part, constant) {
            return None;
        }
        let (name, schema) = (self.name, part.to_string());
        Some(if schema.len() <= MAX_SHOWN_SCHEMA {
            format!("`{name}` takes {schema} {at}, found {}", kind(constant))
        } else {
            format!("`{name}` does not take this value {at}")
        })
    }
}

/// Whether a part of a schema accepts a value. True if that cannot be checked.
fn accepts(root: &Value, part: &Value, constant: &Value) -> bool {
    let mut whole = Map::from_iter([("properties".to_owned(), json!({ "value": part }))]);
    for key in DEFINITIONS {
        if let Some(definitions) = root.get(key) {
            whole.insert(key.to_owned(), definitions.clone());
        }
    }
    match Validator::new(&whole.into()) {
        Ok(validator) => validator.check_value(&json!({ "value": constant })).is_ok(),
        Err(_) => true,
    }
}
