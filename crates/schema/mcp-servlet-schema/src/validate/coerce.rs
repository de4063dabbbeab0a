//! Converts strings to the number, boolean or null that a schema expects.

use jsonschema::{
    JsonType, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

/// The maximum number of converted values per call.
const MAX_CHANGES: usize = 100;

/// Converts strings if the schema expects another type and the string can be read as that type.
pub(super) fn coerce(validator: &Validator, value: &mut Value) {
    let mut changes = Vec::new();
    for error in validator.iter_errors(value).take(MAX_CHANGES) {
        let (ValidationErrorKind::Type { kind }, Value::String(text)) =
            (error.kind(), error.instance().as_ref())
        else {
            continue;
        };
        if let Some(value) = converted(kind, text) {
            changes.push((error.instance_path().as_str().to_owned(), value));
        }
    }
    for (pointer, converted) in changes {
        if let Some(place) = value.pointer_mut(&pointer) {
            *place = converted;
        }
    }
}

/// A whole number as an integer, in any notation: `12.0` and `1.2e1` are 12, as in JSON Schema.
pub(crate) fn integer(text: &str) -> Option<Value> {
    let unsigned = mcp_servlet_json::from_str::<u64>(text).map(Value::from);
    let signed = || mcp_servlet_json::from_str::<i64>(text).map(Value::from);
    unsigned.or_else(|_| signed()).ok()
}

/// The string as JSON, if that has the type.
fn converted(kind: &TypeKind, text: &str) -> Option<Value> {
    let fits = |ty| match kind {
        TypeKind::Single(one) => *one == ty,
        TypeKind::Multiple(all) => all.contains(ty),
    };
    let value: Value = serde_json::from_str(text).ok()?;
    let fits = match &value {
        Value::Number(_) if fits(JsonType::Number) => true,
        Value::Number(_) if fits(JsonType::Integer) => return integer(text),
        Value::Bool(_) => fits(JsonType::Boolean),
        Value::Null => fits(JsonType::Null),
        _ => false,
    };
    fits.then_some(value)
}
