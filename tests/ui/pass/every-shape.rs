//! Every parameter and return type that the documentation names.
#![deny(warnings)]
#![allow(deprecated, reason = "most tools here have no descriptions")]
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use mcp_servlet::prelude::*;

#[derive(Deserialize, Serialize, Schema)]
#[serde(transparent)]
struct Id(u64);

#[derive(Deserialize, Serialize, Schema)]
struct Page<T> {
    items: Vec<T>,
    next: Option<Id>,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize, Serialize, Schema)]
enum External {
    Unit,
    New(Id),
    Struct { a: u8 },
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(Id),
    Struct { a: u8 },
}

#[derive(Deserialize, Serialize, Schema)]
struct Flat {
    #[serde(flatten)]
    page: Page<External>,
    #[serde(flatten)]
    rest: BTreeMap<String, RawJson>,
}

#[tool]
#[allow(clippy::too_many_arguments, reason = "all of them")]
fn all(
    context: &Context,
    a: (),
    b: Option<Vec<Option<i8>>>,
    c: HashMap<String, Vec<u16>>,
    d: BTreeSet<String>,
    e: HashSet<u64>,
    f: Box<OneOrMany>,
    g: Adjacent,
    h: RawJson,
    #[arg(default = 1.5, min = -1.0, max = 2.0)] i: f32,
    #[arg(default = "x".repeat(2))] j: String,
    k: char,
) -> Result<Json<Flat>, String> {
    let _ = (context, a, b, c, d, e, f, g, h, i, j, k);
    Err("no".to_owned())
}

#[tool]
fn nothing() -> Option<Vec<Content>> {
    None
}

#[tool(input_schema = r#"{ "type": "object", "properties": {} }"#)]
fn raw(arguments: HashMap<String, RawJson>) -> usize {
    arguments.len()
}

#[tool]
fn flat(#[arg(flatten)] flat: Flat) -> ToolResult {
    ToolResult::text(&flat.rest.len().to_string())
}

mcp_servlet::export!(static SERVLET = { tools: [all, nothing, raw, flat] });

fn main() {
    assert_eq!(SERVLET.client().describe().unwrap().tools.unwrap().len(), 4);
}
