//! Calls that show what is possible.

use mcp_servlet_schema::{JsonObject, Validator, example};
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use serde_json::{Map, Value, json};

use super::{Argument, Step, path::MAX_PARTS, target};

/// Calls of a tool that its schema accepts, with different values of an argument, and without it.
pub(super) struct Witnesses {
    validator: Option<Validator>,
    calls: std::vec::IntoIter<JsonObject>,
}

/// The longest text or list that is tried.
const LONGEST: u64 = 1_000;

/// How many values are tried.
const MOST: usize = 200;

impl Witnesses {
    pub(super) fn of(root: &Value, part: &Value, argument: &Argument) -> Self {
        let base = match example(root) {
            Some(Value::Object(members)) => members,
            _ => Map::new(),
        };
        let mut values = Vec::new();
        collect(root, part, &mut MAX_PARTS.clone(), &mut values);
        collect(
            root,
            &Value::Object(argument.schema.clone()),
            &mut MAX_PARTS.clone(),
            &mut values,
        );
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
        values.truncate(MOST);
        let mut calls = vec![base.clone()];
        let mut without = Value::Object(base.clone());
        put(&mut without, &argument.path, None);
        calls.extend(without.as_object().cloned());
        for value in values {
            let mut call = Value::Object(base.clone());
            put(&mut call, &argument.path, Some(value));
            calls.extend(call.as_object().cloned());
        }
        Self {
            validator: Validator::new(root).ok(),
            calls: calls.into_iter(),
        }
    }
}

impl Iterator for Witnesses {
    type Item = JsonObject;

    fn next(&mut self) -> Option<JsonObject> {
        let validator = self.validator.as_ref()?;
        let is_valid =
            |call: &JsonObject| validator.accepts(&Value::Object(call.clone())) == Some(true);
        self.calls.find(is_valid)
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
fn collect(root: &Value, schema: &Value, left: &mut usize, values: &mut Vec<Value>) {
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
            ("const" | "default", value) => values.push(value.clone()),
            ("type", Value::String(name)) => values.extend(of_type(name)),
            ("type", Value::Array(names)) => {
                values.extend(names.iter().filter_map(Value::as_str).filter_map(of_type));
            }
            ("pattern", Value::String(pattern)) => values.extend(matching(pattern)),
            ("minLength" | "maxLength" | "minItems" | "maxItems", Value::Number(bound)) => {
                let bound = bound.as_u64().filter(|bound| *bound <= LONGEST);
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

/// Texts and lists of about this length.
fn of_length(bound: u64) -> Vec<Value> {
    let lengths = [bound, bound + 1, bound.saturating_sub(1)];
    let lengths = lengths.map(|length| usize::try_from(length).unwrap_or_default());
    let texts = lengths.map(|length| json!("a".repeat(length)));
    let lists = lengths.into_iter().flat_map(|length| {
        [json!("a"), json!(1), json!(null), json!({})].map(|item| json!(vec![item; length]))
    });
    texts.into_iter().chain(lists).collect()
}

/// A text that probably matches a pattern, and longer ones.
fn matching(pattern: &str) -> Vec<Value> {
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

fn sample(pattern: &Hir, text: &mut String) {
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
            for _ in 0..u64::from(repeated.min).clamp(1, LONGEST) {
                sample(&repeated.sub, text);
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
