//! Structs: fields as serde reads and writes them.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

fn byte() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 255 })
}

/// The same schema with a description.
fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = description.into();
    schema
}

/// A search.
#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Search {
    /// words to look for
    #[schema(example = "atlas")]
    query_text: String,
    #[serde(default, alias = "limit")]
    max_results: u8,
    #[serde(rename = "user-ID")]
    user: u8,
    next: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u8>,
    #[serde(skip_deserializing)]
    found: u8,
    #[serde(skip_serializing)]
    secret: u8,
    #[serde(skip)]
    cache: Vec<PhantomData<u8>>,
}

#[test]
fn arguments_are_what_serde_reads() {
    let mut max_results = described(byte(), "max results");
    max_results["default"] = json!(0);
    assert_eq!(
        whole!(Search),
        json!({
            "type": "object",
            "description": "A search.",
            "properties": {
                "queryText": { "type": "string", "description": "words to look for", "examples": ["atlas"] },
                "maxResults": max_results,
                "user-ID": described(byte(), "user ID"),
                "next": described(byte(), "next"),
                "last": described(byte(), "last"),
                "secret": described(byte(), "secret"),
            },
            "required": ["queryText", "user-ID", "secret"],
        })
    );
}

#[test]
fn results_are_what_serde_writes() {
    let nullable = json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 255 });
    assert_eq!(
        output!(Search),
        json!({
            "type": "object",
            "description": "A search.",
            "properties": {
                "queryText": { "type": "string", "description": "words to look for", "examples": ["atlas"] },
                "maxResults": byte(),
                "user-ID": byte(),
                "next": nullable,
                "last": nullable,
                "found": byte(),
            },
            "required": ["queryText", "maxResults", "user-ID", "next", "found"],
        })
    );
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "type", rename = "tree")]
struct Tree {
    label: String,
    #[schema(json = r#"{"type":"array","items":{"type":"object"}}"#)]
    children: Vec<Tree>,
}

#[test]
fn a_struct_with_a_tag_writes_it_and_does_not_read_it() {
    let children = json!({ "type": "array", "items": { "type": "object" } });
    assert_eq!(
        output!(Tree),
        json!({
            "type": "object",
            "properties": {
                "type": { "type": "string", "enum": ["tree"] },
                "label": { "type": "string" },
                "children": children,
            },
            "required": ["type", "label", "children"],
        })
    );
    let read = whole!(Tree);
    assert_eq!(read["required"], json!(["label", "children"]));
    let tree = Tree {
        label: "a".to_owned(),
        children: Vec::new(),
    };
    let written = serde_json::to_value(&tree).unwrap();
    assert_eq!(
        written,
        json!({ "type": "tree", "label": "a", "children": [] })
    );
}

/// A number of an article.
#[derive(Deserialize, Serialize, Schema)]
struct Id(u8);

#[derive(Deserialize, Serialize, Schema)]
struct Bare(Id);

#[derive(Deserialize, Serialize, Schema)]
struct Perhaps(Option<u8>);

#[derive(Deserialize, Serialize, Schema)]
#[serde(transparent)]
struct Transparent {
    inner: Option<u8>,
    #[serde(skip)]
    marker: PhantomData<u8>,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(from = "Option<u8>", into = "Option<u8>")]
#[derive(Clone)]
struct Proxy {
    other: String,
}

impl From<Option<u8>> for Proxy {
    fn from(value: Option<u8>) -> Self {
        Self {
            other: format!("{value:?}"),
        }
    }
}

impl From<Proxy> for Option<u8> {
    fn from(value: Proxy) -> Self {
        value.other.parse().ok()
    }
}

#[derive(Deserialize, Serialize, Schema)]
struct Wrappers {
    id: Id,
    bare: Bare,
    perhaps: Perhaps,
    transparent: Transparent,
    proxy: Proxy,
    boxed: Box<Transparent>,
}

#[test]
fn a_newtype_is_what_it_holds() {
    let nullable = json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 255 });
    let input = whole!(Wrappers);
    assert_eq!(
        input["properties"]["id"],
        described(byte(), "A number of an article.")
    );
    assert_eq!(
        input["properties"]["bare"],
        described(byte(), "A number of an article.")
    );
    assert_eq!(input["properties"]["proxy"], described(byte(), "proxy"));
    // serde reads a missing field as `None` only if it sees the `Option`.
    assert_eq!(input["required"], json!(["id", "bare", "perhaps"]));
    let output = output!(Wrappers);
    for name in ["perhaps", "transparent", "proxy", "boxed"] {
        assert_eq!(output["properties"][name], nullable, "{name}");
    }
    assert_eq!(output["required"].as_array().unwrap().len(), 6);
}

#[derive(Deserialize, Serialize, Schema)]
struct Unit;

/// A page.
#[derive(Deserialize, Serialize, Schema)]
struct Page<'a, T, const N: usize = 3>
where
    T: Clone,
{
    items: Vec<T>,
    #[serde(skip)]
    marker: PhantomData<&'a [u8; N]>,
}

#[test]
fn unit_struct_is_null_and_generic_struct_has_its_parameter() {
    assert_eq!(
        input!(Unit),
        json!({ "type": "null", "description": "value" })
    );
    assert_eq!(
        input!(Page<'static, Option<bool>>),
        json!({
            "type": "object",
            "description": "A page.",
            "properties": {
                "items": { "type": "array", "description": "items", "items": { "type": ["boolean", "null"] } },
            },
            "required": ["items"],
        })
    );
    assert_eq!(
        output!(Page<'static, Option<bool>>)["properties"]["items"],
        json!({ "type": "array", "items": { "type": ["boolean", "null"] } })
    );
}

#[derive(Deserialize, Serialize, Schema)]
struct Outer {
    first: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    extra: Option<Extra>,
    last: u8,
}

#[derive(Deserialize, Serialize, Schema)]
struct Inner {
    /// the middle
    middle: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, Option<u8>>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Extra {
    extra: u8,
    #[serde(flatten)]
    deeper: Deeper,
}

#[derive(Deserialize, Serialize, Schema)]
struct Deeper {
    deep: u8,
}

#[test]
fn flattened_fields_are_next_to_the_others() {
    assert_eq!(
        whole!(Outer),
        json!({
            "type": "object",
            "properties": {
                "first": described(byte(), "first"),
                "last": described(byte(), "last"),
                "middle": described(byte(), "the middle"),
                "extra": described(byte(), "extra"),
                "deep": described(byte(), "deep"),
            },
            "required": ["first", "last", "middle"],
            "additionalProperties": { "type": ["integer", "null"], "minimum": 0, "maximum": 255 },
        })
    );
    let output = output!(Outer);
    assert_eq!(output["required"], json!(["first", "last", "middle"]));
    assert_eq!(
        output["additionalProperties"]["type"],
        json!(["integer", "null"])
    );
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE", deny_unknown_fields, default)]
#[derive(Default)]
struct Closed {
    some_name: u8,
    r#type: u8,
}

#[test]
fn a_closed_struct_refuses_others_and_a_default_requires_nothing() {
    assert_eq!(
        whole!(Closed),
        json!({
            "type": "object",
            "properties": { "SOME-NAME": described(byte(), "SOME NAME"), "TYPE": described(byte(), "TYPE") },
            "additionalProperties": false,
        })
    );
    assert_eq!(output!(Closed)["required"], json!(["SOME-NAME", "TYPE"]));
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
mod hex {
    pub(crate) fn serialize<S: serde::Serializer>(
        value: &u8,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:x}"))
    }

    pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u8, D::Error> {
        let text: String = serde::Deserialize::deserialize(deserializer)?;
        u8::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

#[derive(Deserialize, Serialize, Schema)]
struct OwnCode {
    #[serde(with = "hex")]
    #[schema(
        json = r#"{ "type": "string", "pattern": "^[0-9a-f]+$" }"#,
        example = "ff"
    )]
    without_text: u8,
    /// not this
    #[serde(with = "hex")]
    #[schema(json = r#"{"type":"string","description":"but this"}"#)]
    with_text: u8,
    newtype: OwnNewtype,
}

/// Text with a schema of its own, in several ways of being there.
#[derive(Deserialize, Serialize, Schema)]
struct OwnSchemas {
    #[schema(json = r#"{"type":"string"}"#)]
    needed: String,
    #[schema(json = r#"{"type":"string"}"#)]
    optional: Option<String>,
    #[schema(json = r#"{"type":"string"}"#)]
    alias: Maybe,
}

type Maybe = Option<String>;

#[test]
fn an_option_with_a_schema_of_its_own_may_be_left_out() {
    assert_eq!(whole!(OwnSchemas)["required"], json!(["needed"]));
    assert!(serde_json::from_str::<OwnSchemas>(r#"{"needed":""}"#).is_ok());
}

/// In hexadecimal.
#[derive(Deserialize, Serialize, Schema)]
struct OwnNewtype(
    #[serde(with = "hex")]
    #[schema(json = r#"{"type":"string"}"#)]
    u8,
);

#[test]
fn a_field_with_its_own_code_has_its_own_schema() {
    let properties = &whole!(OwnCode)["properties"];
    assert_eq!(
        properties["without_text"],
        json!({
            "type": "string",
            "description": "without text",
            "pattern": "^[0-9a-f]+$",
            "examples": ["ff"],
        })
    );
    assert_eq!(properties["with_text"]["description"], "but this");
    assert_eq!(
        properties["newtype"],
        json!({ "type": "string", "description": "In hexadecimal." })
    );
}

mod other {
    use mcp_servlet::prelude::*;

    #[derive(Deserialize, Serialize, Schema)]
    pub(crate) struct Item {
        id: u8,
    }
}

#[derive(Deserialize, Serialize, Schema)]
struct Item {
    item: other::Item,
}

#[test]
fn a_type_of_the_same_name_is_another_type() {
    assert_eq!(
        whole!(Item)["properties"]["item"]["properties"]["id"],
        described(byte(), "id")
    );
}

#[test]
fn a_map_may_take_all_arguments() {
    assert_eq!(
        whole!(BTreeMap<String, u8>),
        json!({ "type": "object", "properties": {}, "additionalProperties": byte() })
    );
}

struct Color;

impl Schema for Color {
    const NODE: &'static mcp_servlet::schema::Node = &mcp_servlet::schema::Node::string()
        .with_format("hex-color")
        .with_description(" A color. ");
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|_| Self)
    }
}

#[test]
fn a_schema_may_be_implemented_by_hand() {
    assert_eq!(
        input!(Option<Color>),
        json!({ "type": "string", "description": "A color.", "format": "hex-color" })
    );
}
