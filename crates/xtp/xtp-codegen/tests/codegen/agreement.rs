//! Random documents: nothing panics, and each mode agrees with the rules that it implements.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};
use xtp_codegen::{Code, Input, Mode, Schema, Severity};

use crate::{library, published, survive};

const NAMES: [&str; 14] = [
    "A",
    "B",
    "a",
    "type",
    "foo_bar",
    "fooBar",
    "$",
    "a-b",
    "items",
    "enum",
    "format",
    "required",
    "$ref",
    "properties",
];

/// A value that is wrong almost everywhere.
fn odd() -> impl Strategy<Value = Value> {
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
    ];
    prop::sample::select(values.to_vec())
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop_oneof![20 => prop::sample::select(words).prop_map(Value::from), 1 => odd()]
}

fn type_name() -> impl Strategy<Value = Value> {
    word(&[
        "string", "number", "integer", "boolean", "object", "array", "buffer", "text",
    ])
}

fn format() -> impl Strategy<Value = Value> {
    word(&[
        "date-time",
        "byte",
        "float",
        "double",
        "int32",
        "int64",
        "uint8",
        "uri",
    ])
}

fn reference() -> impl Strategy<Value = Value> {
    let names = ["A", "B", "a", "C", "A/properties/a", ""];
    let schemas = prop::sample::select(names.to_vec());
    prop_oneof![
        10 => schemas.prop_map(|name| json!(format!("#/components/schemas/{name}"))),
        1 => Just(json!("#/exports/f")),
        1 => odd(),
    ]
}

fn names() -> impl Strategy<Value = Value> {
    let name =
        prop_oneof![20 => prop::sample::select(NAMES.to_vec()).prop_map(Value::from), 1 => odd()];
    prop_oneof![20 => prop::collection::vec(name, 0..3).prop_map(Value::from), 1 => odd()]
}

/// An object with some of these entries.
fn some(entries: Vec<(&'static str, f64, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let entries: Vec<_> = entries
        .into_iter()
        .map(|(key, share, value)| {
            prop::option::weighted(share, value)
                .prop_map(move |value| value.map(|v| (key.to_owned(), v)))
        })
        .collect();
    let object = entries
        .prop_map(|entries| Value::Object(entries.into_iter().flatten().collect::<Map<_, _>>()));
    object.boxed()
}

fn map(values: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let names = prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned);
    let values = prop_oneof![20 => values, 1 => odd()];
    prop::collection::btree_map(names, values, 0..4)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()))
        .boxed()
}

fn ty(depth: u32) -> BoxedStrategy<Value> {
    let simple = prop_oneof![
        6 => type_name().prop_map(|ty| json!({ "type": ty })),
        3 => (type_name(), format()).prop_map(|(ty, format)| json!({ "type": ty, "format": format })),
        6 => reference().prop_map(|target| json!({ "$ref": target })),
        2 => names().prop_map(|names| json!({ "enum": names })),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    let mixed = some(vec![
        ("type", 0.6, type_name().boxed()),
        ("format", 0.1, format().boxed()),
        (
            "nullable",
            0.2,
            prop_oneof![8 => any::<bool>().prop_map(Value::from), 1 => odd()].boxed(),
        ),
        (
            "description",
            0.2,
            prop_oneof![8 => Just(json!("Words.")), 1 => odd(), 1 => ty(depth - 1)].boxed(),
        ),
        ("$ref", 0.1, reference().boxed()),
        (
            "items",
            0.2,
            prop_oneof![20 => ty(depth - 1), 1 => odd()].boxed(),
        ),
        (
            "additionalProperties",
            0.2,
            prop_oneof![8 => ty(depth - 1), 1 => odd()].boxed(),
        ),
        (
            "properties",
            0.3,
            prop_oneof![20 => map(ty(depth - 1)), 1 => odd()].boxed(),
        ),
        ("required", 0.2, names().boxed()),
        ("enum", 0.1, names().boxed()),
        (
            "oneOf",
            0.1,
            prop::collection::vec(ty(depth - 1), 0..3)
                .prop_map(Value::from)
                .boxed(),
        ),
        ("x-odd", 0.1, prop_oneof![odd(), ty(depth - 1)].boxed()),
    ]);
    prop_oneof![3 => simple, 2 => mixed].boxed()
}

fn parameter() -> BoxedStrategy<Value> {
    let content_type = word(&[
        "application/json",
        "application/x-binary",
        "text/plain; charset=utf-8",
        "text/plain",
    ]);
    (ty(1), prop::option::weighted(0.9, content_type))
        .prop_map(|(mut ty, content_type)| {
            if let Some(content_type) = content_type {
                ty["contentType"] = content_type;
            }
            ty
        })
        .boxed()
}

fn document() -> BoxedStrategy<Value> {
    let function = some(vec![
        (
            "description",
            0.3,
            prop_oneof![8 => Just(json!("Words.")), 1 => ty(1)].boxed(),
        ),
        ("type", 0.02, type_name().boxed()),
        ("required", 0.02, names().boxed()),
        ("input", 0.5, parameter()),
        ("output", 0.5, parameter()),
        (
            "codeSamples",
            0.1,
            prop_oneof![Just(json!([{"lang": "rust", "source": "x"}])), odd()].boxed(),
        ),
    ]);
    let components = some(vec![("schemas", 0.95, map(ty(2))), ("x-odd", 0.05, ty(1))]);
    some(vec![
        (
            "version",
            0.98,
            prop_oneof![30 => Just(json!("v1-draft")), 1 => Just(json!("v0")), 1 => odd()].boxed(),
        ),
        (
            "exports",
            0.95,
            prop_oneof![20 => map(function.clone()), 1 => names(), 1 => odd()].boxed(),
        ),
        ("imports", 0.3, map(function)),
        ("x-odd", 0.05, ty(1)),
        ("enum", 0.02, names().boxed()),
        ("components", 0.9, components),
    ])
}

/// The codes of the errors of a mode.
fn errors(text: &str, mode: Mode) -> Result<(), Vec<Code>> {
    match Schema::parse(&Input::new("schema.yaml", text).mode(mode)) {
        Ok(_) => Ok(()),
        Err(problems) => Err(problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|problem| problem.code)
            .collect()),
    }
}

fn agree(document: &Value) -> Result<(), TestCaseError> {
    let text = document.to_string();
    survive::survive(&text);
    let published = published::violations(document);
    let report = library::report(&text);
    let strict = errors(&text, Mode::Strict);
    prop_assert!(
        strict.is_err() || published.is_empty(),
        "strict takes {text}\n{published:?}"
    );
    let missed = library::missed(&text, &report);
    prop_assert!(missed.is_empty(), "compat takes {missed:?} of {text}");
    if published.is_empty() {
        // The published rules check neither the targets of references nor whether values end.
        let more = [Code::RefTarget, Code::Endless];
        let found = strict.err().unwrap_or_default();
        prop_assert!(
            found.iter().all(|code| more.contains(code)),
            "strict refuses {text}: {found:?}"
        );
    }
    if report.accepted() {
        // The library accepts many values that are not objects, and misses cycles through lists of
        // lists and through schemas that only rename another schema. Only some of these cycles are
        // endless.
        let more = [Code::WrongKind, Code::Endless];
        for mode in [Mode::Compat, Mode::Lenient] {
            let found = errors(&text, mode).err().unwrap_or_default();
            prop_assert!(
                found.iter().all(|code| more.contains(code)),
                "{mode:?} refuses {text}: {found:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn each_mode_agrees_with_its_reference_tool() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(300),
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    if let Err(error) = runner.run(&document(), |document| agree(&document)) {
        panic!("{error}");
    }
}
