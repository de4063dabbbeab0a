//! Which schemas of arguments reject unknown names.

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::schemas::probe::tool;

#[tool]
fn by_name(a: Option<u8>, inner: Option<Plain>) {
    let _ = (a, inner);
}

mcp_servlet::export!(static BY_NAME = { tools: [by_name] });

#[derive(Deserialize, Schema)]
struct Plain {
    a: u8,
}

#[derive(Deserialize, Schema)]
struct Outer {
    #[serde(flatten)]
    plain: Plain,
    b: u8,
}

#[derive(Deserialize, Schema)]
struct Rest {
    a: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Deserialize, Schema)]
struct Any {
    a: u8,
    #[serde(flatten)]
    rest: RawJson,
}

#[derive(Deserialize, Schema)]
struct Renamed {
    #[serde(alias = "b")]
    a: u8,
}

#[derive(Deserialize, Schema)]
struct AroundRenamed {
    #[serde(flatten)]
    renamed: Renamed,
}

#[derive(Deserialize, Schema)]
#[serde(untagged)]
enum Either {
    One(Plain),
    Other(Outer),
}

struct ByHand;

impl<'de> Deserialize<'de> for ByHand {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

impl Schema for ByHand {
    const NODE: &'static mcp_servlet::schema::Node = &mcp_servlet::schema::Node::object(&[]);
}

/// The schema's rule for unknown names.
fn others(schema: &Value) -> Value {
    schema["additionalProperties"].clone()
}

#[test]
fn arguments_by_name_refuse_others_at_the_root() {
    let input = &tool(&BY_NAME)["inputSchema"];
    assert_eq!(others(input), false);
    // Inside a struct, serde ignores unknown names.
    assert_eq!(others(&input["properties"]["inner"]), Value::Null);
}

#[test]
fn a_struct_of_all_arguments_refuses_others_if_it_reads_none() {
    assert_eq!(others(&whole!(Plain)), false);
    assert_eq!(others(&whole!(Outer)), false);
    assert_eq!(others(&whole!(Option<Box<Plain>>)), false);
    let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255 });
    assert_eq!(others(&whole!(Rest)), byte);
    assert_eq!(others(&whole!(BTreeMap<String, u8>)), byte);
    for schema in [
        whole!(Any),
        whole!(Renamed),
        whole!(AroundRenamed),
        whole!(Either),
        whole!(ByHand),
    ] {
        assert_eq!(others(&schema), Value::Null, "{schema}");
    }
}
