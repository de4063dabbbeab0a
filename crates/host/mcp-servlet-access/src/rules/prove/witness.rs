//! Example calls that a schema accepts.

use mcp_servlet_schema::{JsonObject, Validator, example};
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use serde_json::{Value, json};

use super::{Argument, Step, path::MAX_PARTS, target};

/// The longest string or list that is tried.
const MAX_WITNESS_LENGTH: usize = 1_000;

/// How many values are tried.
const MAX_WITNESSES: usize = 200;

/// How many steps of validation all calls may take together; about a tenth of a second of work.
const MAX_STEPS: u64 = 2_000_000;

/// Calls of a tool that its schema accepts, with different values of an argument, and without it. Empty if the schema is not valid.
pub(super) fn witnesses(
    root: &Value,
    part: &Value,
    argument: &Argument,
) -> impl Iterator<Item = JsonObject> {
    let validator = Validator::new(root).ok();
    let accepted = validator.map(|validator| {
        let mut left = MAX_STEPS;
        let calls = calls(root, part, argument).map_while(move |call| {
            left = left.checked_sub(validator.steps(&call))?;
            Some((validator.accepts(&call) == Some(true)).then_some(call))
        });
        calls.flatten()
    });
    accepted
        .into_iter()
        .flatten()
        .filter_map(|call| match call {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        })
}

fn calls(root: &Value, part: &Value, argument: &Argument) -> impl Iterator<Item = Value> {
    let example = example(root).filter(Value::is_object);
    let base = example.unwrap_or_else(|| json!({}));
    let mut values = Samples(Vec::new());
    let own = Value::Object(argument.schema.clone());
    collect(root, part, &mut MAX_PARTS.clone(), &mut values);
    collect(root, &own, &mut MAX_PARTS.clone(), &mut values);
    values.extend([
        json!(null),
        json!(true),
        json!(0),
        json!(1.5),
        json!(""),
        json!("text"),
        json!([]),
        json!({}),
    ]);
    let mut without = base.clone();
    put(&mut without, &argument.path, None);
    let first = [base.clone(), without];
    let with = values.0.into_iter().map(move |value| {
        let mut call = base.clone();
        put(&mut call, &argument.path, Some(value));
        call
    });
    first.into_iter().chain(with)
}

/// Values to try, each once.
struct Samples(Vec<Value>);

impl Samples {
    fn extend(&mut self, values: impl IntoIterator<Item = Value>) {
        for value in values {
            if self.0.len() == MAX_WITNESSES {
                return;
            }
            if !self.0.contains(&value) {
                self.0.push(value);
            }
        }
    }
}

/// Sets the value at a path, or removes it.
fn put(part: &mut Value, path: &[Step], value: Option<Value>) {
    match (path, value) {
        ([], Some(value)) => *part = value,
        ([], None) => {}
        ([Step::Member(name)], None) => {
            if let Value::Object(members) = part {
                members.remove(name);
            }
        }
        ([Step::Items, ..], None) => *part = json!([]),
        ([Step::Member(name), rest @ ..], value) => {
            if !part.is_object() {
                *part = json!({});
            }
            if value.is_some() || part.get(name).is_some() {
                put(&mut part[name.as_str()], rest, value);
            }
        }
        ([Step::Items, rest @ ..], value) => {
            let mut item = part.get(0).cloned().unwrap_or_default();
            put(&mut item, rest, value);
            *part = json!([item]);
        }
    }
}

/// Values at the edges of what a schema describes.
fn collect(root: &Value, schema: &Value, left: &mut usize, values: &mut Samples) {
    let (Value::Object(keywords), Some(rest)) = (schema, left.checked_sub(1)) else {
        return;
    };
    *left = rest;
    if let Some(target) = target(root, schema) {
        collect(root, target, left, values);
    }
    for (name, value) in keywords {
        match (name.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                for part in parts {
                    collect(root, part, left, values);
                }
            }
            ("enum" | "examples", Value::Array(all)) => values.extend(all.iter().cloned()),
            ("const" | "default", value) => values.extend([value.clone()]),
            ("type", Value::String(name)) => values.extend(of_type(name)),
            ("type", Value::Array(names)) => {
                values.extend(names.iter().filter_map(Value::as_str).filter_map(of_type));
            }
            ("pattern", Value::String(pattern)) => values.extend(matching(pattern)),
            ("minLength" | "maxLength" | "minItems" | "maxItems", Value::Number(bound)) => {
                let bound = bound
                    .as_u64()
                    .and_then(|bound| usize::try_from(bound).ok())
                    .filter(|bound| *bound <= MAX_WITNESS_LENGTH);
                values.extend(bound.into_iter().flat_map(of_length));
            }
            (_, Value::Number(bound)) => values.extend(near(bound)),
            _ => {}
        }
    }
}

fn of_type(name: &str) -> Option<Value> {
    Some(match name {
        "null" => json!(null),
        "boolean" => json!(false),
        "integer" | "number" => json!(1),
        "string" => json!("a"),
        "array" => json!([]),
        "object" => json!({}),
        _ => return None,
    })
}

/// The number, and numbers on both sides of it.
fn near(bound: &serde_json::Number) -> Vec<Value> {
    let mut near = vec![Value::Number(bound.clone())];
    if let Some(bound) = bound.as_i64() {
        near.extend(
            [-1, 1]
                .into_iter()
                .filter_map(|by| bound.checked_add(by))
                .map(Value::from),
        );
        near.extend(bound.checked_mul(2).map(Value::from));
    }
    if let Some(bound) = bound.as_f64() {
        near.extend([-0.5, 0.5].map(|by| json!(bound + by)));
        near.extend([-1.0, 1.0].map(|by| json!((bound + by).round())));
    }
    near
}

/// Strings and lists of about this length.
fn of_length(bound: usize) -> Vec<Value> {
    let lengths = [bound, bound + 1, bound.saturating_sub(1)];
    let texts = lengths.map(|length| json!("a".repeat(length)));
    let lists = lengths.into_iter().flat_map(|length| {
        [json!("a"), json!(1), json!(null), json!({})].map(|item| json!(vec![item; length]))
    });
    texts.into_iter().chain(lists).collect()
}

/// A string that probably matches a pattern, and longer ones.
pub(super) fn matching(pattern: &str) -> Vec<Value> {
    let Ok(pattern) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    let mut text = String::new();
    sample(&pattern, &mut text);
    vec![
        json!(text),
        json!(format!("{text}a")),
        json!(format!("a{text}")),
    ]
}

/// Adds a string that probably matches a pattern, up to the longest that is tried.
fn sample(pattern: &Hir, text: &mut String) {
    if text.len() > MAX_WITNESS_LENGTH {
        return;
    }
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => *text += &String::from_utf8_lossy(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            text.extend(class.ranges().first().map(ClassUnicodeRange::end));
        }
        HirKind::Class(Class::Bytes(class)) => {
            text.extend(class.ranges().first().map(|range| char::from(range.end())));
        }
        HirKind::Repetition(repeated) => {
            for _ in 0..repeated.min.max(1) {
                let before = text.len();
                sample(&repeated.sub, text);
                if text.len() == before {
                    break;
                }
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, text)),
        HirKind::Alternation(parts) => {
            if let Some(first) = parts.first() {
                sample(first, text);
            }
        }
    }
}
