//! What the model reads about wrong arguments: where, what was expected, what came.

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::{complaint, text};

#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

/// Takes one of each.
#[tool]
fn each(
    #[arg(default)] text: String,
    #[arg(default)] letter: char,
    #[arg(default)] flag: bool,
    #[arg(default)] byte: u8,
    #[arg(default)] signed: i16,
    #[arg(default)] big: u64,
    #[arg(default)] float: f64,
    color: Option<Color>,
    #[arg(default)] list: Vec<u8>,
    #[arg(default)] map: BTreeMap<String, Vec<bool>>,
    #[arg(default = 5, min = 1, max = 10)] bounded: i32,
    #[arg(min = 0.5)] at_least: Option<f32>,
    unit: Option<()>,
) {
    let _ = (text, letter, flag, byte, signed, big, float, color, list, map, bounded, at_least, unit);
}

/// Takes some that must be there.
#[tool]
fn needs(first: String, second: u8, third: Option<u8>, #[arg(rename = "a/b~c")] fourth: Vec<String>) {
    let _ = (first, second, third, fourth);
}

#[tool]
fn none() {}

mcp_servlet::export!(static SERVLET = { tools: [needs, each, none] });

const BYTE: &str = "an integer of at least 0 of at most 255";
const BOUNDED: &str = "an integer of at least 1 of at most 10";
const COLOR: &str = r#"one of ["red","green"]"#;

#[test]
fn says_where_what_was_expected_and_what_came() {
    let long = "x".repeat(100);
    let digits = format!("1{}", "0".repeat(100));
    for (name, value, pointer, expected, came) in [
        ("text", json!(7), "/text", "a string", "7"),
        ("text", json!(["a"]), "/text", "a string", "an array"),
        ("text", json!({}), "/text", "a string", "an object"),
        ("text", json!(true), "/text", "a string", "true"),
        ("text", json!([long]), "/text", "a string", "an array"),
        ("flag", json!("true"), "/flag", "true or false", "\"true\""),
        ("flag", json!(1), "/flag", "true or false", "1"),
        ("byte", json!("7"), "/byte", BYTE, "\"7\""),
        ("byte", json!(256), "/byte", BYTE, "256"),
        ("byte", json!(-1), "/byte", BYTE, "-1"),
        ("byte", json!(1.5), "/byte", BYTE, "1.5"),
        ("byte", json!(long), "/byte", BYTE, "a long string"),
        ("signed", json!(40_000), "/signed", "an integer of at least -32768 of at most 32767", "40000"),
        ("big", json!(-1), "/big", "an integer of at least 0", "-1"),
        ("big", json!("1"), "/big", "an integer of at least 0", "\"1\""),
        ("float", json!("0.5"), "/float", "a number", "\"0.5\""),
        ("float", json!([]), "/float", "a number", "an array"),
        ("color", json!("blue"), "/color", COLOR, "\"blue\""),
        ("color", json!("Red"), "/color", COLOR, "\"Red\""),
        ("color", json!(1), "/color", COLOR, "1"),
        ("list", json!("1,2"), "/list", "an array", "\"1,2\""),
        ("list", json!([1, 2, 300]), "/list/2", BYTE, "300"),
        ("list", json!([1, null]), "/list/1", BYTE, "null"),
        ("list", json!([[1]]), "/list/0", BYTE, "an array"),
        ("list", json!({ "0": 1 }), "/list", "an array", "an object"),
        ("map", json!({ "a": [true, 1] }), "/map/a/1", "true or false", "1"),
        ("map", json!({ "a/b~c": true }), "/map/a~1b~0c", "an array", "true"),
        ("map", json!([]), "/map", "an object", "an array"),
        ("bounded", json!(0), "/bounded", BOUNDED, "0"),
        ("bounded", json!(11), "/bounded", BOUNDED, "11"),
        ("bounded", json!("x"), "/bounded", BOUNDED, "\"x\""),
        ("at_least", json!(0.25), "/at_least", "a number of at least 0.5", "0.25"),
        ("at_least", json!("x"), "/at_least", "a number of at least 0.5", "\"x\""),
        ("unit", json!(1), "/unit", "null", "1"),
    ] {
        let expected = format!("`{pointer}` must be {expected}, got {came}");
        assert_eq!(complaint(&SERVLET, "each", json!({ name: value })), expected);
    }
    let number: Value = serde_json::from_str(&digits).unwrap_or_default();
    assert!(complaint(&SERVLET, "each", json!({ "byte": number })).starts_with("`/byte` must be "));
    assert!(complaint(&SERVLET, "each", json!({ "letter": "ab" })).starts_with("`/letter` must be a string"));
}

#[test]
fn takes_what_lies_on_a_bound() {
    for arguments in [
        json!({ "bounded": 1, "at_least": 0.5, "byte": 0, "signed": -32_768 }),
        json!({ "bounded": 10, "at_least": 1e30, "byte": 255, "signed": 32_767, "big": u64::MAX }),
        json!({ "at_least": null }),
    ] {
        assert_eq!(text(&SERVLET, "each", arguments), Ok(String::new()));
    }
}

#[test]
fn lists_every_argument_that_is_missing() {
    let first = "`/first` must be a string, but it is missing";
    let second = format!("`/second` must be {BYTE}, but it is missing");
    let fourth = "`/a~1b~0c` must be an array, but it is missing";
    for (arguments, expected) in [
        (json!({}), format!("{first}; {second}; {fourth}")),
        (json!({ "third": 1, "second": 1 }), format!("{first}; {fourth}")),
        (json!({ "first": "", "second": 1 }), fourth.to_owned()),
        (json!({ "first": 1 }), format!("{second}; {fourth}")),
    ] {
        assert_eq!(complaint(&SERVLET, "needs", arguments), expected);
    }
}

#[test]
fn null_stands_for_an_argument_that_may_be_missing_only() {
    let needed = json!({ "first": null, "second": 1, "a/b~c": [] });
    assert_eq!(complaint(&SERVLET, "needs", needed), "`/first` must be a string, got null");
    let item = json!({ "first": "", "second": 1, "a/b~c": [null] });
    assert_eq!(complaint(&SERVLET, "needs", item), "`/a~1b~0c/0` must be a string, got null");
    let optional = json!({ "first": "", "second": 1, "third": null, "a/b~c": [] });
    assert_eq!(text(&SERVLET, "needs", optional), Ok(String::new()));
}

#[test]
fn names_an_unknown_argument_and_the_known_ones() {
    let known = "known are `first`, `second`, `third`, `a/b~c`";
    for (arguments, pointer) in [
        (json!({ "firs": "", "second": 1 }), "/firs"),
        (json!({ "first": "", "second": 1, "a/b~c": [], "x~/y": null }), "/x~0~1y"),
        (json!({ "Second": 1 }), "/Second"),
    ] {
        assert_eq!(complaint(&SERVLET, "needs", arguments), format!("`{pointer}` is unknown; {known}"));
    }
    let nothing = complaint(&SERVLET, "none", json!({ "a": 1 }));
    assert_eq!(nothing, "`/a` is unknown; there are no arguments here");
}
