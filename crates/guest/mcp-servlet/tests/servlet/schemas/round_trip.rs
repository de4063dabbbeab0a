//! serde and the schemas agree: each accepts what the other reads or writes.

use std::collections::{BTreeMap, BTreeSet};

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

/// Whether the value is valid; the validators of both drafts must agree.
fn is_valid(schema: &Value, value: &Value) -> bool {
    let answers = [
        jsonschema::draft7::new(schema).unwrap().is_valid(value),
        jsonschema::draft202012::new(schema)
            .unwrap()
            .is_valid(value),
    ];
    assert_eq!(answers[0], answers[1], "{value} in {schema}");
    answers[0]
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Everything {
    some_text: String,
    option: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
    list: Vec<Option<f32>>,
    set: BTreeSet<char>,
    map: BTreeMap<String, Option<Unit>>,
    newtype: Newtype,
    unit: (),
    choice: Option<External>,
    step: Option<Internal>,
    pair: Adjacent,
    one_or_many: Untagged,
    #[serde(flatten)]
    flat: Flat,
    #[serde(flatten)]
    absent: Option<Absent>,
    #[serde(default)]
    number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, Schema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    FirstOne,
    SecondOne,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
struct Newtype(Option<u16>);

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
enum External {
    Unit,
    New(Newtype),
    Perhaps(Option<bool>),
    Fields { a: Option<u8> },
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
#[serde(tag = "kind")]
enum Internal {
    Unit,
    New(Flat),
    Fields { a: Option<u8> },
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(Option<Newtype>),
    Fields { a: u8 },
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum Untagged {
    One(String),
    Many(Vec<String>),
    Fields { b: bool },
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
struct Flat {
    flat: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, Schema)]
struct Absent {
    absent: u8,
}

/// Values of every shape, the second one without optional parts.
fn values() -> Vec<Everything> {
    let small = Everything {
        some_text: String::new(),
        option: None,
        left_out: None,
        list: Vec::new(),
        set: BTreeSet::new(),
        map: BTreeMap::new(),
        newtype: Newtype(None),
        unit: (),
        choice: None,
        step: None,
        pair: Adjacent::Unit,
        one_or_many: Untagged::One("one".to_owned()),
        flat: Flat {
            flat: "f".to_owned(),
        },
        absent: None,
        number: u64::MAX,
    };
    let large = Everything {
        some_text: "\"ü\u{1}\\".to_owned(),
        option: Some(i8::MIN),
        left_out: Some("x".to_owned()),
        list: vec![Some(1.5), None, Some(-0.0)],
        set: ['a', 'ß'].into(),
        map: [
            ("a".to_owned(), Some(Unit::FirstOne)),
            ("b".to_owned(), None),
        ]
        .into(),
        newtype: Newtype(Some(7)),
        absent: Some(Absent { absent: 1 }),
        one_or_many: Untagged::Many(vec!["a".to_owned()]),
        ..small.clone()
    };
    let choices = [
        External::Unit,
        External::New(Newtype(None)),
        External::Perhaps(None),
        External::Perhaps(Some(true)),
        External::Fields { a: None },
    ];
    let steps = [
        Internal::Unit,
        Internal::New(small.flat.clone()),
        Internal::Fields { a: Some(1) },
    ];
    let pairs = [
        Adjacent::New(None),
        Adjacent::New(Some(Newtype(None))),
        Adjacent::Fields { a: 2 },
    ];
    let mut values = vec![small.clone(), large.clone()];
    values.extend(choices.map(|choice| Everything {
        choice: Some(choice),
        ..small.clone()
    }));
    values.extend(steps.map(|step| Everything {
        step: Some(step),
        ..small.clone()
    }));
    values.extend(pairs.map(|pair| Everything {
        pair,
        ..small.clone()
    }));
    values.push(Everything {
        one_or_many: Untagged::Fields { b: true },
        ..large
    });
    values
}

#[test]
fn output_of_serde_matches_the_output_schema() {
    let schema = output!(Everything);
    for value in values() {
        let json = serde_json::to_value(&value).unwrap();
        assert!(is_valid(&schema, &json), "{json} does not fit {schema}");
    }
}

#[test]
fn single_results_match_their_schemas() {
    macro_rules! check {
        ($($ty:ty: $($value:expr),*;)*) => {
            $(let schema = output!($ty);
            $(let value: $ty = $value;
            let json = serde_json::to_value(&value).unwrap();
            assert!(is_valid(&schema, &json), "{json} does not fit {schema}");)*)*
        };
    }
    check! {
        Unit: Unit::FirstOne, Unit::SecondOne;
        Vec<Option<Untagged>>: vec![], vec![None, Some(Untagged::Fields { b: false })];
        BTreeMap<u8, Vec<External>>: [(1, vec![External::Unit, External::New(Newtype(Some(1)))])].into();
        (): ();
        Vec<()>: vec![()];
        Vec<Option<()>>: vec![None];
        Vec<Option<Vec<Option<u8>>>>: vec![None, Some(vec![None, Some(1)])];
        Box<Internal>: Box::new(Internal::Unit);
        Vec<Newtype>: vec![Newtype(None), Newtype(Some(1))];
        f64: 0.1;
        i64: i64::MIN, i64::MAX;
        u64: u64::MAX;
    }
}

/// Arguments as JSON without the members that are null, which serde accepts as well: the schemas do not allow them.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        value => value,
    }
}

#[test]
fn arguments_that_serde_reads_match_the_input_schema() {
    let schema = whole!(Everything);
    let mut read = 0;
    for value in values() {
        let mut json = without_nulls(serde_json::to_value(&value).unwrap());
        json["unit"] = Value::Null;
        json["map"] = serde_json::to_value(&value.map).unwrap();
        // `Newtype(None)` can only be written as null.
        json["newtype"] = json!(3);
        let reads = serde_json::from_value::<Everything>(json.clone());
        if reads.is_ok() {
            assert!(is_valid(&schema, &json), "{json} does not fit {schema}");
            read += 1;
        }
    }
    assert!(read >= 10, "serde reads {read} only");
}

/// serde and the schema agree on arguments: samples with one difference each.
#[test]
fn the_schema_refuses_what_serde_refuses() {
    let schema = whole!(Everything);
    let right = json!({
        "someText": "", "list": [1], "set": ["a"], "map": { "a": "first-one" }, "newtype": 1, "unit": null,
        "pair": { "t": "Unit" }, "oneOrMany": ["a"], "flat": "f",
    });
    let with = |name: &str, value: Value| {
        let mut json = right.clone();
        json[name] = value;
        json
    };
    let without = |name: &str| {
        let mut json = right.clone();
        json.as_object_mut().unwrap().remove(name);
        json
    };
    for (json, fits) in [
        (right.clone(), true),
        (with("option", json!(-128)), true),
        (with("option", json!(-129)), false),
        (with("option", json!(1.5)), false),
        (with("leftOut", json!("x")), true),
        (with("leftOut", json!(1)), false),
        (with("list", json!([null, 1])), true),
        (with("list", json!(["1"])), false),
        (with("list", json!({})), false),
        (with("map", json!({ "a": null })), true),
        (with("map", json!({ "a": "third-one" })), false),
        (with("choice", json!("Unit")), true),
        (with("choice", json!({ "New": 1 })), true),
        (with("choice", json!({ "Fields": {} })), true),
        (with("choice", json!({ "Fields": {}, "New": 1 })), false),
        (with("choice", json!({})), false),
        (with("choice", json!("Other")), false),
        (with("step", json!({ "kind": "Unit" })), true),
        (with("step", json!({ "kind": "New", "flat": "x" })), true),
        (with("step", json!({ "kind": "New" })), false),
        (with("step", json!({})), false),
        (with("pair", json!({ "t": "New" })), true),
        (with("pair", json!({ "t": "New", "c": 3 })), true),
        (with("pair", json!({ "t": "Fields" })), false),
        (with("oneOrMany", json!("a")), true),
        (with("oneOrMany", json!({ "b": true })), true),
        (with("oneOrMany", json!(1)), false),
        (with("number", json!(u64::MAX)), true),
        (with("number", json!(-1)), false),
        (without("someText"), false),
        (without("pair"), false),
        (without("flat"), false),
        (without("newtype"), false),
        (json!([]), false),
    ] {
        let reads = serde_json::from_value::<Everything>(json.clone());
        assert_eq!(reads.is_ok(), fits, "serde on {json}: {reads:?}");
        assert_eq!(is_valid(&schema, &json), fits, "the schema on {json}");
    }
}
