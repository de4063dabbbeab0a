//! The model's error for invalid arguments: JSON pointer, expected schema, value found.

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::calls::{complaint, schema, text, wrong};

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
    let _ = (
        text, letter, flag, byte, signed, big, float, color, list, map, bounded, at_least, unit,
    );
}

/// Takes some that must be there.
#[tool]
fn needs(
    /// a name
    first: String,
    second: u8,
    third: Option<u8>,
    #[arg(rename = "a/b~c")] fourth: Vec<String>,
) {
    let _ = (first, second, third, fourth);
}

#[tool]
fn none() {}

mcp_servlet::export!(static SERVLET = { tools: [needs, each, none] });

/// By argument and value: the JSON pointer of the mistake, the schema there, and the value found.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn mistakes() -> Vec<(
    &'static str,
    Value,
    &'static str,
    &'static str,
    &'static str,
)> {
    let long = "x".repeat(100);
    vec![
        ("text", json!(7), "/text", "/text", "7"),
        ("text", json!(["a"]), "/text", "/text", "an array"),
        ("text", json!({}), "/text", "/text", "an object"),
        ("text", json!(true), "/text", "/text", "true"),
        ("text", json!([long]), "/text", "/text", "an array"),
        ("letter", json!("ab"), "/letter", "/letter", "\"ab\""),
        ("letter", json!(""), "/letter", "/letter", "\"\""),
        ("flag", json!("true"), "/flag", "/flag", "\"true\""),
        ("flag", json!(1), "/flag", "/flag", "1"),
        ("byte", json!("7"), "/byte", "/byte", "\"7\""),
        ("byte", json!(256), "/byte", "/byte", "256: out of range"),
        ("byte", json!(-1), "/byte", "/byte", "-1: out of range"),
        (
            "byte",
            json!(1.5),
            "/byte",
            "/byte",
            "1.5: an integer has no fraction",
        ),
        ("byte", json!(1e3), "/byte", "/byte", "1000.0: out of range"),
        ("byte", json!(-1.0), "/byte", "/byte", "-1.0: out of range"),
        ("byte", json!(long), "/byte", "/byte", "a long string"),
        (
            "signed",
            json!(40_000),
            "/signed",
            "/signed",
            "40000: out of range",
        ),
        ("big", json!(-1), "/big", "/big", "-1: out of range"),
        ("big", json!("1"), "/big", "/big", "\"1\""),
        ("float", json!("0.5"), "/float", "/float", "\"0.5\""),
        ("float", json!([]), "/float", "/float", "an array"),
        ("color", json!("blue"), "/color", "/color", "\"blue\""),
        ("color", json!("Red"), "/color", "/color", "\"Red\""),
        ("color", json!(1), "/color", "/color", "1"),
        ("list", json!("1,2"), "/list", "/list", "\"1,2\""),
        (
            "list",
            json!([1, 2, 300]),
            "/list/2",
            "/list/items",
            "300: out of range",
        ),
        ("list", json!([1, null]), "/list/1", "/list/items", "null"),
        ("list", json!([[1]]), "/list/0", "/list/items", "an array"),
        ("list", json!({ "0": 1 }), "/list", "/list", "an object"),
        (
            "map",
            json!({ "a": [true, 1] }),
            "/map/a/1",
            "/map/additionalProperties/items",
            "1",
        ),
        (
            "map",
            json!({ "a/b~c": true }),
            "/map/a~1b~0c",
            "/map/additionalProperties",
            "true",
        ),
        ("map", json!([]), "/map", "/map", "an array"),
        (
            "bounded",
            json!(0),
            "/bounded",
            "/bounded",
            "0: out of range",
        ),
        (
            "bounded",
            json!(11),
            "/bounded",
            "/bounded",
            "11: out of range",
        ),
        ("bounded", json!("x"), "/bounded", "/bounded", "\"x\""),
        (
            "at_least",
            json!(0.25),
            "/at_least",
            "/at_least",
            "0.25: out of range",
        ),
        ("at_least", json!("x"), "/at_least", "/at_least", "\"x\""),
        ("unit", json!(1), "/unit", "/unit", "1"),
    ]
}

#[test]
fn error_names_pointer_expected_and_found() {
    for (name, value, pointer, of_schema, came) in mistakes() {
        let complaint = complaint(&SERVLET, "each", json!({ name: value }));
        assert_eq!(
            wrong(&complaint),
            (pointer, schema(&SERVLET, "each", of_schema), came)
        );
    }
    let request = format!(
        r#"{{"params":{{"name":"each","arguments":{{"byte":1{}}}}}}}"#,
        "0".repeat(100)
    );
    let answer = SERVLET.client().request("call", request).unwrap();
    assert!(answer.contains(", got a long number"), "{answer}");
}

#[test]
fn error_is_a_sentence() {
    for (arguments, sentence) in [
        (
            json!({ "first": 7, "second": 1, "a/b~c": [] }),
            r#"`/first` must match {"type":"string","description":"a name"}, got 7"#,
        ),
        (
            json!({ "second": 1 }),
            "`/first` is missing; it must match {\"type\":\"string\",\"description\":\"a name\"}; \
             `/a~1b~0c` is missing; it must match \
             {\"type\":\"array\",\"description\":\"a/b~c\",\"items\":{\"type\":\"string\"}}",
        ),
        (
            json!({ "frist": "" }),
            "`/frist` is unknown; known are `first`, `second`, `third`, `a/b~c`",
        ),
    ] {
        assert_eq!(complaint(&SERVLET, "needs", arguments), sentence);
    }
}

#[test]
fn accepts_values_at_a_bound() {
    for arguments in [
        json!({ "bounded": 1, "at_least": 0.5, "byte": 0, "signed": -32_768 }),
        json!({ "bounded": 10, "at_least": 1e30, "byte": 255, "signed": 32_767, "big": u64::MAX }),
        json!({ "at_least": null }),
    ] {
        assert_eq!(text(&SERVLET, "each", arguments), Ok(String::new()));
    }
}

/// Calls a tool with arguments as handwritten JSON.
fn written(servlet: &'static mcp_servlet::Servlet, tool: &str, arguments: &str) -> String {
    let request = format!(r#"{{"params":{{"name":"{tool}","arguments":{arguments}}}}}"#);
    servlet.client().request("call", request).unwrap()
}

#[test]
fn whole_numbers_are_integers_in_any_notation() {
    for arguments in [
        r#"{"byte":12.0,"signed":-1e3,"big":18446744073709551615.0}"#,
        r#"{"byte":1.50e2,"signed":-0.0,"bounded":10.0,"list":[1.0,2e0]}"#,
    ] {
        let answer = written(&SERVLET, "each", arguments);
        assert!(!answer.contains("isError"), "{arguments}: {answer}");
    }
    // The value in the error is the one in the request, even beyond the precision of a float.
    let answer = written(
        &SHOWN,
        "show",
        r#"{"big":9007199254740993.0,"small":-25e-1}"#,
    );
    assert!(
        answer.contains("got -25e-1: an integer has no fraction"),
        "{answer}"
    );
    let answer = written(
        &SHOWN,
        "show",
        r#"{"big":9007199254740993.0,"small":-250e-1}"#,
    );
    assert!(answer.contains("9007199254740993 -25"), "{answer}");
}

#[tool]
fn show(big: u64, small: i8) -> String {
    format!("{big} {small}")
}

mcp_servlet::export!(static SHOWN = { tools: [show] });

#[test]
fn lists_every_argument_that_is_missing() {
    for (arguments, expected) in [
        (json!({}), &["/first", "/second", "/a~1b~0c"][..]),
        (json!({ "third": 1, "second": 1 }), &["/first", "/a~1b~0c"]),
        (json!({ "first": "", "second": 1 }), &["/a~1b~0c"]),
        (json!({ "first": 1 }), &["/second", "/a~1b~0c"]),
    ] {
        let complaint = complaint(&SERVLET, "needs", arguments);
        let pointers: Vec<_> = complaint
            .split("; `")
            .map(|each| each.trim_start_matches('`'))
            .filter_map(|each| Some(each.split_once("` is missing")?.0))
            .collect();
        assert_eq!(pointers, expected, "{complaint}");
    }
}

#[test]
fn null_is_accepted_for_optional_arguments_only() {
    let needed = complaint(
        &SERVLET,
        "needs",
        json!({ "first": null, "second": 1, "a/b~c": [] }),
    );
    assert_eq!(
        wrong(&needed),
        ("/first", schema(&SERVLET, "needs", "/first"), "null")
    );
    let item = complaint(
        &SERVLET,
        "needs",
        json!({ "first": "", "second": 1, "a/b~c": [null] }),
    );
    assert_eq!(
        wrong(&item),
        ("/a~1b~0c/0", json!({ "type": "string" }), "null")
    );
    let optional = json!({ "first": "", "second": 1, "third": null, "a/b~c": [] });
    assert_eq!(text(&SERVLET, "needs", optional), Ok(String::new()));
}

#[test]
fn names_an_unknown_argument_and_the_known_ones() {
    let known = "known are `first`, `second`, `third`, `a/b~c`";
    for (arguments, pointer) in [
        (json!({ "firs": "", "second": 1 }), "/firs"),
        (
            json!({ "first": "", "second": 1, "a/b~c": [], "x~/y": null }),
            "/x~0~1y",
        ),
        (json!({ "Second": 1 }), "/Second"),
    ] {
        assert_eq!(
            complaint(&SERVLET, "needs", arguments),
            format!("`{pointer}` is unknown; {known}")
        );
    }
    let nothing = complaint(&SERVLET, "none", json!({ "a": 1 }));
    assert!(nothing.starts_with("`/a` is unknown"), "{nothing}");
}
