//! Arguments as typed, and the values that they become.

use serde_json::json;

use super::*;

fn schema() -> JsonObject {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "string"}},
            "ids": {"type": "array", "items": {"$ref": "#/$defs/Id"}},
            "map": {"type": "object"},
            "maybe": {"type": ["string", "null"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "colour": {"type": "string", "enum": ["red", "green"]},
            "level": {"enum": [1, 2]},
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}]},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
            "weight": {"type": "integer", "allOf": [{"minimum": 1}, {"enum": [1, 2], "enumNames": ["light", "heavy"]}]},
            "code": {"type": "string", "anyOf": [{"pattern": "^a"}, {"const": "b"}]},
            "free": {},
        },
        "$defs": {"Id": {"type": "integer"}, "Mode": {"type": "string", "enum": ["fast", "safe"]}},
    });
    schema.as_object().expect("an object").clone()
}

fn read(given: &str) -> Result<Value, String> {
    let arguments = parse_arguments(&schema(), &[given]).map_err(|error| match error.help() {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    })?;
    Ok(arguments.into_iter().next().expect("one argument").1)
}

#[test]
fn reads_values_by_their_type() {
    for (given, value) in [
        ("text=hello world", json!("hello world")),
        ("text=5", json!("5")),
        ("text=a=b", json!("a=b")),
        ("text=", json!("")),
        ("count=-7", json!(-7)),
        ("count=18446744073709551615", json!(u64::MAX)),
        ("count=5.0", json!(5)),
        ("count=1.5e3", json!(1500)),
        ("count=-0.0", json!(0)),
        ("count=9007199254740993.0", json!(9_007_199_254_740_993_u64)),
        ("count=-9223372036854775808.0", json!(i64::MIN)),
        ("either=5.0", json!(5)),
        ("level=2.0", json!(2)),
        ("ratio=2.0", json!(2.0)),
        ("free=2.0", json!(2.0)),
        ("ratio=1e-3", json!(0.001)),
        ("ratio=2", json!(2)),
        ("on=true", json!(true)),
        ("list=[\"a\"]", json!(["a"])),
        ("map={\"k\":1}", json!({"k": 1})),
        ("maybe=null", json!("null")),
        ("maybe:=null", json!(null)),
        ("either=5", json!(5)),
        ("either=five", json!("five")),
        ("colour=red", json!("red")),
        ("level=2", json!(2)),
        ("mode=safe", json!("safe")),
        ("mode=null", json!(null)),
        ("size=s", json!("s")),
        ("size=Large", json!("l")),
        ("weight=2", json!(2)),
        ("weight=heavy", json!(2)),
        ("code=7", json!("7")),
        ("free=[1]", json!([1])),
        ("free=word", json!("word")),
        ("text:=[1,2]", json!([1, 2])),
    ] {
        assert_eq!(read(given), Ok(value), "{given}");
    }
}

#[test]
fn the_example_of_a_list_or_an_object_matches_the_schema() {
    for (given, error) in [
        (
            "list=a,b",
            "argument `list`: expected array, found `a,b`; list='[\"text\"]'",
        ),
        (
            "ids=7,8",
            "argument `ids`: expected array, found `7,8`; ids='[1]'",
        ),
        (
            "map=a",
            "argument `map`: expected object, found `a`; map='{\"a\": 1}'",
        ),
    ] {
        assert_eq!(read(given), Err(error.to_owned()));
    }
}

#[test]
fn error_has_expected_and_found() {
    for (given, error) in [
        (
            "count=abc",
            "argument `count`: expected integer, found `abc`; count=3",
        ),
        (
            "count=1.5",
            "argument `count`: expected integer, but `1.5` is a number",
        ),
        (
            "on=yes",
            "argument `on`: expected boolean, found `yes`; on=true",
        ),
        (
            "on=1",
            "argument `on`: expected boolean, but `1` is an integer",
        ),
        (
            "colour=blue",
            "argument `colour`: expected red or green, but `blue` is not in the list",
        ),
        (
            "level=3",
            "argument `level`: expected 1 or 2, but `3` is not in the list",
        ),
        (
            "colr=red",
            "unknown argument `colr`; did you mean `colour`?",
        ),
        ("text", "expected `key=value` or `key:=json`, found `text`"),
        ("=5", "expected `key=value` or `key:=json`, found `=5`"),
        (
            "text:=x",
            "argument `text`: expected any JSON, found `x`; text:='\"text\"'",
        ),
        (
            "count:=x",
            "argument `count`: expected any JSON, found `x`; count:=3",
        ),
        (
            "colour:=red",
            "argument `colour`: expected any JSON, found `red`; colour:='\"red\"'",
        ),
        (
            "level:=x",
            "argument `level`: expected any JSON, found `x`; level:=1",
        ),
    ] {
        assert_eq!(read(given), Err(error.into()), "{given}");
    }
}

#[test]
fn errors_list_choices_with_their_titles() {
    for (given, error) in [
        (
            "size=m",
            "argument `size`: expected s (Small) or l (Large), but `m` is not in the list",
        ),
        (
            "weight=3",
            "argument `weight`: expected 1 (light) or 2 (heavy), but `3` is not in the list",
        ),
    ] {
        assert_eq!(read(given), Err(error.into()), "{given}");
    }
}

#[test]
fn lists_all_arguments_if_none_is_similar() {
    let schema = json!({"properties": {"a": {}, "b": {}}});
    let error =
        parse_arguments(schema.as_object().expect("an object"), &["zebra=1"]).expect_err("unknown");
    assert_eq!(error.help().as_deref(), Some("known arguments: `a`, `b`"));
    let error = parse_arguments(&JsonObject::new(), &["a=1"]).expect_err("unknown");
    assert_eq!(error.help().as_deref(), Some("there are no arguments"));
}

#[test]
fn refuses_a_duplicate_key() {
    let error = parse_arguments(&schema(), &["text=a", "text=b"]).expect_err("twice");
    assert_eq!(error.to_string(), "duplicate argument `text`");
}

#[test]
fn takes_unknown_keys_where_the_schema_does() {
    let schema = json!({"additionalProperties": {"type": "integer"}});
    let read =
        parse_arguments(schema.as_object().expect("an object"), &["x=5"]).expect("arguments");
    assert_eq!(Value::from(read), json!({"x": 5}));
}

#[test]
fn survives_schemas_that_refer_to_themselves() {
    let schema =
        json!({"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#/nowhere"}}});
    let read = parse_arguments(schema.as_object().expect("an object"), &["a=1", "b=x"])
        .expect("arguments");
    assert_eq!(Value::from(read), json!({"a": 1, "b": "x"}));
}
