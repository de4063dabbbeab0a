//! Finds whole numbers that may have been rounded when they were read.
//!
//! A host reads `9007199254740993.0` as a float, which is 9007199254740992. JSON Schema accepts it as
//! an integer, but it may not be the number that the client sent.

use std::{collections::HashSet, ops::Range};

use jsonschema::{
    JsonType, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use mcp_servlet_common::escape_pointer;
use serde_json::{Number, Value, json};

use crate::provider::MAX_SAFE_INTEGER;

/// A fraction near the largest exact integers, so that it has the same relation to most bounds.
const FRACTION: f64 = 2_251_799_813_685_248.5;

/// The integers that the host can read: from -2^63 to 2^64-1.
const RANGE: Range<f64> = -9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0;

/// A problem with a float where the schema expects an integer, if the float is too large to be exact.
pub(super) fn integer(validator: &Validator, value: &Value) -> Option<String> {
    if !has_inexact(value) {
        return None;
    }
    // If the schema refuses a fraction because of its type, it expects an integer.
    let mut probe = value.clone();
    let mut replaced = HashSet::new();
    replace(&mut probe, &mut String::new(), &mut replaced);
    let mut errors = validator.iter_errors(&probe);
    let at = errors.find_map(|error| expects_integer(&error, &replaced))?;
    let number = value.pointer(&at).and_then(Value::as_f64)?;
    Some(if RANGE.contains(&number) {
        format!(
            "`{at}` must be an integer without a fraction or an exponent: a float of 2^53 or more may have been rounded; \
             got {number:e}"
        )
    } else {
        format!("`{at}` must be an integer from -2^63 to 2^64-1, got {number:e}")
    })
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
            let sign = number.as_f64().unwrap_or_default();
            *value = json!(FRACTION.copysign(sign));
            replaced.insert(at.clone());
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                at.extend(["/", &index.to_string()]);
                replace(item, at, replaced);
                at.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                at.extend(["/", &escape_pointer(name)]);
                replace(member, at, replaced);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// The pointer of a replaced number where an integer is expected. In a union, a branch that the value does not match for
/// another reason does not count.
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
            context.iter().find_map(|branch| {
                let mut found = branch.iter().map(|error| expects_integer(error, replaced));
                let first = found.next()??;
                found.all(|at| at.is_some()).then_some(first)
            })
        }
        _ => None,
    }
}
