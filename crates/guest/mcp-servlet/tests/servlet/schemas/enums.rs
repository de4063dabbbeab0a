//! Enums in serde's four representations.

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

/// The order of the results.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    /// by name,
    /// from A to Z
    Name,
    #[serde(rename = "cheapest")]
    LowestPrice,
    #[serde(skip)]
    Internal,
    /// the latest first
    NewestFirst,
}

#[derive(Deserialize, Serialize, Schema)]
enum Plain {
    A,
    B,
}

/// Takes enums.
#[tool]
fn sorts(of_type: SortBy, plain: Plain, #[doc = "its own"] own: Option<SortBy>, many: Vec<Plain>) {
    let _ = (of_type, plain, own, many);
}

mcp_servlet::export!(static SORTS = { tools: [sorts] });

#[test]
fn unit_variants_are_texts_and_their_docs_follow_every_description() {
    let notes = "- `name`: by name,\nfrom A to Z\n- `newest_first`: the latest first";
    let values = json!(["name", "cheapest", "newest_first"]);
    let tool = crate::schemas::probe::tool(&SORTS);
    assert_eq!(
        tool["inputSchema"]["properties"],
        json!({
            "of_type": {
                "type": "string",
                "description": format!("The order of the results.\n{notes}"),
                "enum": values,
            },
            "plain": { "type": "string", "description": "plain", "enum": ["A", "B"] },
            "own": { "type": "string", "description": format!("its own\n{notes}"), "enum": values },
            "many": {
                "type": "array",
                "description": "many",
                "items": { "type": "string", "enum": ["A", "B"] },
            },
        })
    );
}

#[derive(Deserialize, Serialize, Schema)]
struct Sorted {
    by: Option<SortBy>,
    then: Option<Plain>,
}

#[test]
fn an_enum_that_may_be_none_is_nullable_in_results() {
    let output = output!(Sorted);
    assert_eq!(
        output["properties"]["then"],
        json!({ "type": ["string", "null"], "enum": ["A", "B", null] })
    );
    assert_eq!(
        output["properties"]["by"]["type"],
        json!(["string", "null"])
    );
}

/// The docs of variants without the type's.
#[derive(Deserialize, Serialize, Schema)]
struct Inner {
    inner: u8,
}

fn byte() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 255 })
}

fn named(name: &str) -> Value {
    let mut byte = byte();
    byte["description"] = name.into();
    byte
}

/// A choice.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum External {
    /// Nothing.
    UnitOne,
    /// Something.
    NewType(Inner),
    Fields {
        some_field: u8,
    },
    #[serde(rename_all = "UPPERCASE")]
    Others {
        other: Option<u8>,
    },
    Number(u8),
    Perhaps(Option<u8>),
}

#[test]
fn describes_externally_tagged_variants() {
    let variant = |name: &str, content: Value| {
        json!({
            "type": "object",
            "properties": { name: content },
            "required": [name],
            "additionalProperties": false,
        })
    };
    let mut something = variant(
        "newType",
        json!({
            "type": "object",
            "description": "The docs of variants without the type's.",
            "properties": { "inner": named("inner") },
            "required": ["inner"],
        }),
    );
    something["description"] = "Something.".into();
    assert_eq!(
        input!(External),
        json!({
            "description": "A choice.",
            "anyOf": [
                { "type": "string", "description": "Nothing.", "enum": ["unitOne"] },
                something,
                variant("fields", json!({
                    "type": "object",
                    "description": "fields",
                    "properties": { "someField": named("some field") },
                    "required": ["someField"],
                })),
                variant("others", json!({
                    "type": "object",
                    "description": "others",
                    "properties": { "OTHER": named("OTHER") },
                })),
                variant("number", named("number")),
                variant("perhaps", named("perhaps")),
            ],
        })
    );
    let output = output!(External);
    assert_eq!(
        output["anyOf"][5]["properties"]["perhaps"]["type"],
        json!(["integer", "null"])
    );
}

/// A step.
#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Internal {
    /// Go back.
    Back,
    Move(Inner),
    /// Turn.
    Turn {
        degrees: u8,
        left: Option<bool>,
    },
    #[serde(other)]
    Unknown,
}

#[test]
fn describes_internally_tagged_variants() {
    let kind = |name: &str| json!({ "type": "string", "description": "kind", "enum": [name] });
    let expected = json!({
        "type": "object",
        "description": "A step.",
        "anyOf": [
            {
                "type": "object",
                "description": "Go back.",
                "properties": { "kind": kind("back") },
                "required": ["kind"],
            },
            {
                "type": "object",
                "properties": { "kind": kind("move"), "inner": named("inner") },
                "required": ["kind", "inner"],
            },
            {
                "type": "object",
                "description": "Turn.",
                "properties": {
                    "kind": kind("turn"),
                    "degrees": named("degrees"),
                    "left": { "type": "boolean", "description": "left" },
                },
                "required": ["kind", "degrees"],
            },
            {
                "type": "object",
                "properties": { "kind": { "type": "string", "description": "kind" } },
                "required": ["kind"],
            },
        ],
    });
    assert_eq!(input!(Internal), expected);
    let written = &output!(Internal)["anyOf"][3];
    assert_eq!(written["properties"]["kind"]["enum"], json!(["unknown"]));
    let mut at_the_root = expected;
    at_the_root["properties"] = json!({});
    assert_eq!(whole!(Internal), at_the_root);
}

#[derive(Deserialize, Schema)]
enum Mixed {
    Number(u8),
    #[serde(other)]
    Else,
}

/// A system of units.
#[derive(Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// in Celsius
    Metric,
    Imperial,
    #[serde(other)]
    Unknown,
}

#[test]
fn catch_all_variant_accepts_any_string() {
    let any = json!({ "type": "string" });
    assert_eq!(input!(Mixed)["anyOf"][1], any);
    let names = json!({ "type": "string", "description": "- `metric`: in Celsius", "enum": ["metric", "imperial"] });
    assert_eq!(
        input!(Unit),
        json!({ "description": "A system of units.", "anyOf": [names, any] })
    );
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
enum Adjacent {
    Unit,
    New(Inner),
    Fields { a: u8 },
    Perhaps(Option<u8>),
}

#[test]
fn describes_adjacently_tagged_variants() {
    let tag = |name: &str| json!({ "type": "string", "description": "t", "enum": [name] });
    let variant = |name: &str, content: Option<Value>, required: &[&str]| {
        let mut variant = json!({
            "type": "object",
            "properties": { "t": tag(name) },
            "required": required,
            "additionalProperties": false,
        });
        if let Some(content) = content {
            variant["properties"]["c"] = content;
        }
        variant
    };
    let inner = json!({
        "type": "object",
        "description": "The docs of variants without the type's.",
        "properties": { "inner": named("inner") },
        "required": ["inner"],
    });
    let fields = json!({
        "type": "object",
        "description": "c",
        "properties": { "a": named("a") },
        "required": ["a"],
        "additionalProperties": false,
    });
    assert_eq!(
        input!(Adjacent),
        json!({
            "type": "object",
            "description": "value",
            "anyOf": [
                variant("Unit", None, &["t"]),
                variant("New", Some(inner), &["t", "c"]),
                variant("Fields", Some(fields), &["t", "c"]),
                variant("Perhaps", Some(named("c")), &["t"]),
            ],
        })
    );
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum Untagged {
    /// One.
    One(String),
    Many(Vec<String>),
    Range {
        from: u8,
    },
    Nothing,
}

#[derive(Deserialize, Serialize, Schema)]
struct Holder {
    value: Option<Untagged>,
    unit: Option<()>,
}

#[test]
fn describes_untagged_variants() {
    let variants = json!([
        { "type": "string", "description": "One." },
        { "type": "array", "items": { "type": "string" } },
        { "type": "object", "properties": { "from": named("from") }, "required": ["from"] },
        { "type": "null" },
    ]);
    assert_eq!(
        input!(Untagged),
        json!({ "description": "value", "anyOf": variants })
    );
    let output = output!(Holder);
    let union = output["properties"]["value"]["anyOf"].as_array().unwrap();
    assert_eq!(union.len(), 2);
    assert_eq!(union[0]["anyOf"][1], variants[1]);
    assert_eq!(union[1], json!({ "type": "null" }));
    assert_eq!(output["properties"]["unit"], json!({ "type": "null" }));
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "t", deny_unknown_fields)]
enum Strict {
    A { a: u8 },
    B(Inner),
}

#[test]
fn a_closed_enum_closes_the_variants_that_serde_closes() {
    let schema = input!(Strict);
    assert_eq!(schema["anyOf"][0]["additionalProperties"], false);
    assert_eq!(schema["anyOf"][1].get("additionalProperties"), None);
}
