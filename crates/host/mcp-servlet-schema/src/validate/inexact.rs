//! Finds whole numbers that may have been rounded when they were read.
//!
//! A host reads `9007199254740993.0` as a float, which is 9007199254740992. JSON Schema accepts it as an integer, but it may not be
//! the number that the client sent.

use std::collections::HashSet;

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Number, Value, json};

use super::report::escape;
use crate::provider::MAX_SAFE_INTEGER;

/// The JSON pointer of a float where the schema expects an integer, and the float is too large to be exact.
pub(super) fn integer(validator: &Validator, value: &Value) -> Option<String> {
    if !has_inexact(value) {
        return None;
    }
    // Where a fraction is not accepted because of its type, the schema expects an integer.
    let mut probe = value.clone();
    let mut replaced = HashSet::new();
    replace(&mut probe, &mut String::new(), &mut replaced);
    let mut errors = validator.iter_errors(&probe);
    errors.find_map(|error| expects_integer(&error, &replaced))
}

fn has_inexact(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_inexact(number),
        Value::Array(items) => items.iter().any(has_inexact),
        Value::Object(members) => members.values().any(has_inexact),
        _ => false,
    }
}

fn is_inexact(number: &Number) -> bool {
    let is_large = |float: f64| float.abs() >= MAX_SAFE_INTEGER;
    number.is_f64() && number.as_f64().is_some_and(is_large)
}

/// Replaces inexact numbers with a fraction, and collects their pointers.
fn replace(value: &mut Value, at: &mut String, replaced: &mut HashSet<String>) {
    let length = at.len();
    match value {
        Value::Number(number) if is_inexact(number) => {
            *value = json!(0.5);
            replaced.insert(at.clone());
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                *at += &format!("/{index}");
                replace(item, at, replaced);
                at.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                *at += &format!("/{}", escape(name));
                replace(member, at, replaced);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// The pointer of a replaced number where an integer is expected.
fn expects_integer(error: &ValidationError<'_>, replaced: &HashSet<String>) -> Option<String> {
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            let expects = |ty| match kind {
                TypeKind::Single(one) => *one == ty,
                TypeKind::Multiple(all) => all.contains(ty),
            };
            let at = error.instance_path().as_str();
            (replaced.contains(at) && expects(JsonType::Integer)).then(|| at.to_owned())
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let mut errors = context.iter().flatten();
            errors.find_map(|error| expects_integer(error, replaced))
        }
        _ => None,
    }
}
