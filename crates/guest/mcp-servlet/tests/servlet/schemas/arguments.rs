//! Single arguments: std's types, `#[arg]`, descriptions, order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::schemas::probe::tool;
use crate::schemas::strict::checked_description;

/// The schema of the argument `value`, whose description is derived from its name.
fn value(schema: Value) -> Value {
    let mut schema = schema;
    schema["description"] = "value".into();
    schema
}

#[test]
fn describes_the_types_of_std() {
    let integer = |min: i64, max: i64| json!({ "type": "integer", "minimum": min, "maximum": max });
    for (schema, expected) in [
        (input!(String), json!({ "type": "string" })),
        (
            input!(char),
            json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
        ),
        (input!(Cow<'static, str>), json!({ "type": "string" })),
        (input!(Box<str>), json!({ "type": "string" })),
        (input!(bool), json!({ "type": "boolean" })),
        (input!(()), json!({ "type": "null" })),
        (input!(f32), json!({ "type": "number" })),
        (input!(f64), json!({ "type": "number" })),
        (input!(i8), integer(-128, 127)),
        (input!(i16), integer(-32_768, 32_767)),
        (input!(i32), integer(-2_147_483_648, 2_147_483_647)),
        (input!(i64), json!({ "type": "integer" })),
        (input!(isize), json!({ "type": "integer" })),
        (input!(u8), integer(0, 255)),
        (input!(u16), integer(0, 65_535)),
        (input!(u32), integer(0, 4_294_967_295)),
        (input!(u64), json!({ "type": "integer", "minimum": 0 })),
        (input!(usize), json!({ "type": "integer", "minimum": 0 })),
        (input!(RawJson), json!({})),
        (input!(Box<u64>), json!({ "type": "integer", "minimum": 0 })),
    ] {
        assert_eq!(schema, value(expected));
    }
}

#[derive(Deserialize, Schema)]
enum Side {
    Left,
    Right,
}

#[derive(Deserialize, Schema)]
#[serde(untagged)]
enum OneOrMany {
    One(u8),
    Many(Vec<u8>),
}

#[test]
fn describes_nested_collections() {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255 });
    let byte_or_null = json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 255 });
    for (schema, expected) in [
        (input!(Vec<String>), strings.clone()),
        (input!(Box<[String]>), strings.clone()),
        (
            input!(Vec<Vec<String>>),
            json!({ "type": "array", "items": strings }),
        ),
        (
            input!(Vec<Option<u8>>),
            json!({ "type": "array", "items": byte_or_null }),
        ),
        (
            input!(Vec<RawJson>),
            json!({ "type": "array", "items": {} }),
        ),
        (
            input!(BTreeSet<u8>),
            json!({ "type": "array", "items": byte, "uniqueItems": true }),
        ),
        (
            input!(HashSet<u8>),
            json!({ "type": "array", "items": byte, "uniqueItems": true }),
        ),
        (
            input!(BTreeMap<String, u8>),
            json!({ "type": "object", "additionalProperties": byte }),
        ),
        (
            input!(HashMap<u16, Vec<String>>),
            json!({
                "type": "object",
                "propertyNames": { "pattern": "^(0|[1-9][0-9]*)$" },
                "additionalProperties": strings,
            }),
        ),
        (
            input!(BTreeMap<i64, u8>),
            json!({
                "type": "object",
                "propertyNames": { "pattern": "^-?(0|[1-9][0-9]*)$" },
                "additionalProperties": byte,
            }),
        ),
        (
            input!(BTreeMap<bool, u8>),
            json!({
                "type": "object",
                "propertyNames": { "enum": ["true", "false"] },
                "additionalProperties": byte,
            }),
        ),
        (
            input!(BTreeMap<char, u8>),
            json!({
                "type": "object",
                "propertyNames": { "minLength": 1, "maxLength": 1 },
                "additionalProperties": byte,
            }),
        ),
        (
            input!(BTreeMap<String, Option<BTreeMap<String, u8>>>),
            json!({
                "type": "object",
                "additionalProperties": { "type": ["object", "null"], "additionalProperties": byte },
            }),
        ),
        (
            input!(Option<Vec<Vec<Option<Box<u8>>>>>),
            json!({ "type": "array", "items": { "type": "array", "items": byte_or_null } }),
        ),
        (
            input!(Vec<Option<Side>>),
            json!({ "type": "array", "items": { "type": ["string", "null"], "enum": ["Left", "Right", null] } }),
        ),
        (
            input!(Vec<Option<RawJson>>),
            json!({ "type": "array", "items": {} }),
        ),
        (
            input!(BTreeMap<String, Option<OneOrMany>>),
            json!({
                "type": "object",
                "additionalProperties": {
                    "anyOf": [
                        { "anyOf": [byte, { "type": "array", "items": byte }] },
                        { "type": "null" },
                    ],
                },
            }),
        ),
    ] {
        assert_eq!(schema, value(expected));
    }
}

/// Takes arguments that may be left out.
#[tool]
fn optional(
    plain: String,
    option: Option<u8>,
    boxed: Box<Option<u8>>,
    twice: Option<Option<bool>>,
    list: Option<Vec<String>>,
    #[arg(default)] of_type: Vec<String>,
    #[arg(default = u8::MAX)] constant: u8,
) {
    let _ = (plain, option, boxed, twice, list, of_type, constant);
}

mcp_servlet::export!(static OPTIONAL = { tools: [optional] });

#[test]
fn optional_arguments_are_neither_required_nor_nullable() {
    let input = &tool(&OPTIONAL)["inputSchema"];
    assert_eq!(input["required"], json!(["plain"]));
    let text = input.to_string();
    assert!(!text.contains("null"), "{text}");
    for (name, default) in [("of_type", json!([])), ("constant", json!(255))] {
        assert_eq!(input["properties"][name]["default"], default, "{text}");
    }
}

/// Takes arguments with everything that `#[arg]` knows.
#[tool]
fn options(
    #[arg(default = 10, min = 1, max = 100)] limit: u8,
    #[arg(min = -0.5)] low: f64,
    #[arg(max = 1e3)] high: Option<f32>,
    #[arg(min = 5)] big: i64,
    #[arg(default_str = "any \"thing\"", example = "a\\b")] text: String,
    #[arg(default = -3)] negative: i16,
    #[arg(default = 0xff_u32, example = 1_000)] hex: u32,
    #[arg(default = 2.)] float: f64,
    #[arg(default = true)] flag: bool,
    #[arg(default = 'x')] letter: char,
    #[arg(rename = "$ref")] reference: String,
) {
    let _ = (
        limit, low, high, big, text, negative, hex, float, flag, letter, reference,
    );
}

mcp_servlet::export!(static OPTIONS = { tools: [options] });

#[test]
fn shows_defaults_examples_and_bounds() {
    let input = &tool(&OPTIONS)["inputSchema"];
    assert_eq!(
        input["properties"],
        json!({
            "limit": { "type": "integer", "description": "limit", "minimum": 1, "maximum": 100, "default": 10 },
            "low": { "type": "number", "description": "low", "minimum": -0.5 },
            "high": { "type": "number", "description": "high", "maximum": 1e3 },
            "big": { "type": "integer", "description": "big", "minimum": 5 },
            "text": {
                "type": "string",
                "description": "text",
                "default": "any \"thing\"",
                "examples": ["a\\b"],
            },
            "negative": {
                "type": "integer",
                "description": "negative",
                "minimum": -32_768,
                "maximum": 32_767,
                "default": -3,
            },
            "hex": {
                "type": "integer",
                "description": "hex",
                "minimum": 0,
                "maximum": 4_294_967_295_u32,
                "default": 255,
                "examples": [1000],
            },
            "float": { "type": "number", "description": "float", "default": 2.0 },
            "flag": { "type": "boolean", "description": "flag", "default": true },
            "letter": {
                "type": "string",
                "description": "letter",
                "minLength": 1,
                "maxLength": 1,
                "default": "x",
            },
            "$ref": { "type": "string", "description": "$ref" },
        })
    );
    assert_eq!(input["required"], json!(["low", "big", "$ref"]));
}

/// An order, which its type describes.
#[derive(Deserialize, Schema)]
struct Described {
    id: u8,
}

/// Takes arguments with and without descriptions.
#[tool]
fn described(
    /// what to look for,
    ///
    ///   indented
    query: String,
    max_results: u8,
    #[arg(rename = "userID")] user_id: u8,
    r#type: String,
    #[doc = concat!("said ", "by ", "a macro")] said: String,
    of_type: Described,
    /// its own
    own: Described,
    /** in a block */
    block: u8,
) {
    let _ = (
        query,
        max_results,
        user_id,
        r#type,
        said,
        of_type.id,
        own.id,
        block,
    );
}

mcp_servlet::export!(static DESCRIBED = { tools: [described] });

#[test]
fn describes_every_argument_by_its_docs_its_type_or_its_name() {
    let properties = &tool(&DESCRIBED)["inputSchema"]["properties"];
    for (name, description) in [
        ("query", "what to look for,\n\n  indented"),
        ("max_results", "max results"),
        ("userID", "user ID"),
        ("type", "type"),
        ("said", "said by a macro"),
        ("of_type", "An order, which its type describes."),
        ("own", "its own"),
        ("block", "in a block"),
    ] {
        assert_eq!(properties[name]["description"], description);
    }
}

#[tool]
fn ordered(zebra: u8, ant: u8, context: &Context, monkey: Option<u8>, bee: u8) {
    let _ = (zebra, ant, context, monkey, bee);
}

mcp_servlet::export!(static ORDERED = { tools: [ordered] });

#[test]
fn lists_arguments_in_the_order_of_the_source() {
    let text = tool(&ORDERED)["inputSchema"].to_string();
    assert_eq!(
        tool(&ORDERED)["inputSchema"]["required"],
        json!(["zebra", "ant", "bee"])
    );
    // `Value` sorts its keys, so this looks into the text itself.
    let text_of_servlet = &ORDERED.client().request("describe", "").unwrap();
    let places =
        ["zebra", "ant", "monkey", "bee"].map(|name| text_of_servlet.find(&format!("\"{name}\":")));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[tool]
fn without() {}

mcp_servlet::export!(static WITHOUT = { tools: [without] });

#[test]
fn describes_a_tool_without_arguments() {
    let tool = tool(&WITHOUT);
    assert_eq!(
        tool["inputSchema"],
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
    assert_eq!(tool["description"], "without");
    assert_eq!(tool.as_object().unwrap().len(), 3);
}

/// Its schema is written by hand.
#[tool(input_schema = r#" { "type" : "object", "description": "all",
    "properties": { "a": { "type": "string", "description": "an a" } },
    "allOf": [ { "required": ["a"] } ] } "#)]
fn by_hand(arguments: RawJson) {
    let _ = arguments;
}

/// Its schema says the least.
#[tool(input_schema = r#"{"type":"object"}"#)]
fn least(arguments: BTreeMap<String, RawJson>) {
    let _ = arguments;
}

mcp_servlet::export!(static BY_HAND = { tools: [by_hand, least] });

#[test]
fn takes_over_a_schema_written_by_hand() {
    let description = crate::schemas::strict::checked_description(&BY_HAND);
    assert_eq!(
        description["tools"][0]["inputSchema"],
        json!({
            "type": "object",
            "description": "all",
            "properties": { "a": { "type": "string", "description": "an a" } },
            "allOf": [{ "required": ["a"] }],
        })
    );
    assert_eq!(
        description["tools"][1]["inputSchema"],
        json!({ "type": "object", "properties": {} })
    );
}

/// A day.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Day {
    Saturday,
    Sunday,
}

/// Something with a form of its own.
#[derive(FromText)]
struct Machine(std::net::Ipv4Addr);

type Rooms = BTreeMap<i8, BTreeMap<bool, BTreeMap<char, u8>>>;

/// Plans days.
#[tool]
fn plan(days: BTreeMap<Day, Rooms>) -> usize {
    days.len()
}

/// Looks for a machine.
#[tool]
fn find(machine: Machine) -> String {
    machine.0.to_string()
}

/// Takes what is barely right.
#[tool]
fn barely(
    #[arg(example = 255)] byte: u8,
    #[arg(example = -128)] least: i8,
    #[arg(example = 18446744073709551615)] most: u64,
    #[arg(example = 1.5)] part: f64,
    #[arg(default_str = "ä")] letter: char,
    #[arg(default_str = "\n")] end: char,
) -> String {
    format!("{byte}{least}{most}{part}{letter}{end}")
}

mcp_servlet::export!(static EXAMPLES = { tools: [plan, find, barely] });

#[test]
fn example_arguments_are_valid_or_omitted() {
    let description = checked_description(&EXAMPLES);
    let days = &description["tools"][0]["inputSchema"]["properties"]["days"];
    assert_eq!(
        days["propertyNames"],
        json!({ "enum": ["saturday", "sunday"] })
    );
    for name in ["plan", "barely"] {
        let example = EXAMPLES.example(name).unwrap();
        let arguments: Value = serde_json::from_str(example.get()).unwrap();
        let result = EXAMPLES.call(name, arguments).unwrap();
        assert_ne!(result.is_error, Some(true), "{example}: {result:?}");
    }
    assert!(EXAMPLES.example("find").is_none());
}
