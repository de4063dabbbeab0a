//! The values that reach the function: arguments, defaults, and `None`.

use std::collections::{BTreeMap, BTreeSet};

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::calls::text;

#[derive(Debug, Default, Deserialize, Schema)]
#[serde(default)]
struct Size {
    width: u8,
    height: Option<u8>,
}

#[tool]
#[allow(
    clippy::option_option,
    reason = "JSON can say no more than one of them"
)]
fn defaults(
    #[arg(default)] of_type: u8,
    #[arg(default_str = "abc")] literal: String,
    #[arg(default = u8::MAX.into())] computed: u64,
    #[arg(default = vec![1, 2])] list: Vec<u8>,
    #[arg(default)] size: Size,
    option: Option<u8>,
    twice: Option<Option<u8>>,
    boxed: Box<Option<String>>,
    #[arg(default = Some(3))] some: Option<u8>,
) -> String {
    format!(
        "{of_type} {literal} {computed} {list:?} {size:?} {option:?} {twice:?} {boxed:?} {some:?}"
    )
}

mcp_servlet::export!(static DEFAULTS = { tools: [defaults] });

const ABSENT: &str = "0 abc 255 [1, 2] Size { width: 0, height: None } None None None Some(3)";

#[test]
fn an_absent_argument_is_its_default_or_none() {
    assert_eq!(
        text(&DEFAULTS, "defaults", json!({})).as_deref(),
        Ok(ABSENT)
    );
}

#[test]
fn null_equals_absent() {
    let names = [
        "of_type", "literal", "computed", "list", "size", "option", "twice", "boxed", "some",
    ];
    for name in names {
        assert_eq!(
            text(&DEFAULTS, "defaults", json!({ name: null })).as_deref(),
            Ok(ABSENT),
            "{name}"
        );
    }
    let all: Value = names
        .iter()
        .map(|name| ((*name).to_owned(), Value::Null))
        .collect();
    assert_eq!(text(&DEFAULTS, "defaults", all).as_deref(), Ok(ABSENT));
}

#[test]
fn a_given_argument_replaces_the_default() {
    let arguments = json!({
        "of_type": 1, "literal": "", "computed": 2, "list": [], "size": { "height": 3 }, "option": 4,
        "twice": 5, "boxed": "x", "some": 6,
    });
    assert_eq!(
        text(&DEFAULTS, "defaults", arguments).as_deref(),
        Ok("1  2 [] Size { width: 0, height: Some(3) } Some(4) Some(Some(5)) Some(\"x\") Some(6)")
    );
}

#[tool]
fn kinds(
    text: String,
    letter: char,
    flags: Vec<bool>,
    signed: i64,
    unsigned: u64,
    float: f32,
    set: BTreeSet<u8>,
    map: BTreeMap<i16, Option<()>>,
    raw: RawJson,
) -> String {
    format!(
        "{text} {letter} {flags:?} {signed} {unsigned} {float} {set:?} {map:?} {}",
        raw.get()
    )
}

mcp_servlet::export!(static KINDS = { tools: [kinds] });

#[test]
fn arguments_arrive_as_they_were_sent() {
    let arguments = json!({
        "text": "a\n\"\\ü\u{1}👍", "letter": "ß", "flags": [true, false], "signed": i64::MIN,
        "unsigned": u64::MAX, "float": 0.1, "set": [2, 1, 2], "map": { "-1": null }, "raw": { "b": [1.0, null] },
    });
    assert_eq!(
        text(&KINDS, "kinds", arguments).as_deref(),
        Ok(
            "a\n\"\\ü\u{1}👍 ß [true, false] -9223372036854775808 18446744073709551615 0.1 {1, 2} \
            {-1: None} {\"b\":[1.0,null]}"
        )
    );
}

#[tool]
fn names(
    arguments: u8,
    context: u8,
    index: u8,
    r#type: u8,
    host: &Context,
    mut value: u8,
) -> String {
    value += 1;
    format!(
        "{arguments} {context} {index} {type} {value} {:?}",
        host.config_value("x"),
        r#type = r#type
    )
}

mcp_servlet::export!(static NAMES = { tools: [names] });

#[test]
fn an_argument_may_have_any_name() {
    let arguments = json!({ "arguments": 1, "context": 2, "index": 3, "type": 4, "value": 5 });
    assert_eq!(
        text(&NAMES, "names", arguments).as_deref(),
        Ok("1 2 3 4 6 None")
    );
}

#[test]
fn a_tool_is_still_an_ordinary_function() {
    let client = NAMES.client().with_config("x", "y");
    assert_eq!(
        names(1, 2, 3, 4, client.context(), 5),
        "1 2 3 4 6 Some(\"y\")"
    );
}
