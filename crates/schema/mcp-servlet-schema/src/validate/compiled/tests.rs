//! Plain schemas always compile; the others are compiled at once.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Compiled, compile};
use crate::validate::plain::is_plain;

#[test]
fn a_plain_schema_is_compiled_when_it_is_applied() {
    let schema = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "description": "where" }, "days": { "type": "integer", "minimum": 1 } },
        "required": ["city"],
        "additionalProperties": false,
    });
    let compiled = Compiled::new(&schema).expect("it is valid");
    assert!(compiled.validator.get().is_none());
    assert!(compiled.validator().is_valid(&json!({ "city": "Oslo" })));
    assert!(!compiled.validator().is_valid(&json!({ "city": 1 })));
}

#[test]
fn a_schema_with_a_mistake_is_an_error_at_once() {
    for schema in [
        json!({ "type": "strin" }),
        json!({ "type": "object", "properties": { "a": 1 } }),
        json!({ "required": ["a", "a"] }),
        json!({ "minLength": -1 }),
        json!({ "pattern": "(" }),
        json!({ "anyOf": [] }),
    ] {
        assert!(Compiled::new(&schema).is_err(), "{schema}");
    }
}

/// Values that schemas have, and values that they must not have.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "object|array|string|null|[a-z]{0,3}".prop_map(Value::from),
        prop::collection::vec("[ab]{1,2}", 0..4).prop_map(Value::from),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(Value::from),
    ]
}

const KEYWORDS: [&str; 32] = [
    "x-fastmcp-wrap-result",
    "type",
    "title",
    "description",
    "$comment",
    "default",
    "const",
    "examples",
    "enum",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "deprecated",
    "readOnly",
    "writeOnly",
    "pattern",
    "$ref",
    "multipleOf",
];

fn schema() -> impl Strategy<Value = Value> {
    let members = |inner: BoxedStrategy<Value>| {
        let keyword = prop::sample::select(KEYWORDS.as_slice()).prop_map(str::to_owned);
        prop::collection::vec((keyword, inner), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
    };
    value().boxed().prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            members(inner.clone()),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            inner.prop_map(|value| json!({ "properties": { "a": value } })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn a_plain_schema_always_compiles(schema in schema()) {
        if is_plain(&schema) {
            let compiled = compile(&schema);
            prop_assert!(compiled.is_ok(), "{schema}: {:?}", compiled.err().map(|error| error.message));
        }
    }
}
