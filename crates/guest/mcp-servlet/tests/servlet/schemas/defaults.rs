//! Which defaults appear in the schema.

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::schemas::probe::tool;

#[derive(Default, Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
enum Units {
    #[default]
    ByTheMetre,
    Imperial,
}

#[derive(Deserialize, Schema)]
#[serde(tag = "kind")]
enum Shape {
    Dot,
    Circle { radius: u8 },
}

#[derive(Deserialize, Schema)]
struct Inner {
    #[serde(default)]
    flag: bool,
    #[serde(default = "seven")]
    seven: u8,
}

fn seven() -> u8 {
    7
}

#[derive(Deserialize, Schema)]
enum Border {
    None,
    Solid,
}

const LIMIT: u16 = 100;
const RATIO: f64 = 0.25;

struct Strict;

impl Strict {
    const IS_ON: bool = true;
}

#[tool]
#[allow(
    clippy::too_many_arguments,
    reason = "one tool compiles faster than many"
)]
fn in_the_schema(
    // A literal.
    #[arg(default = -1.5)] float: f64,
    #[arg(default = 'x')] letter: char,
    #[arg(default_str = "a \"b\"")] text: String,
    #[arg(default_str = "imperial")] parsed: Units,
    // The default of the type.
    #[arg(default)] number: i64,
    #[arg(default)] single: f32,
    #[arg(default)] flag: bool,
    #[arg(default)] empty: String,
    #[arg(default)] map: BTreeMap<String, u8>,
    #[arg(default)] units: Units,
    #[arg(default)] optional: Option<u8>,
    // The path of a constant or of a variant.
    #[arg(default = LIMIT)] limit: u16,
    #[arg(default = i8::MIN)] least: i8,
    #[arg(default = Strict::IS_ON)] strict: bool,
    #[arg(default = Units::Imperial)] imperial: Units,
    #[arg(default = Shape::Dot)] shape: Shape,
    #[arg(default = Border::None)] border: Border,
    #[arg(default = None)] none: Option<u8>,
    inner: Inner,
) {
    let _ = (float, letter, text, parsed, number, single, flag, empty);
    let _ = (map, units, optional, limit, least, strict, imperial, shape);
    let _ = (border, Border::Solid, none, inner);
}

mcp_servlet::export!(static IN_THE_SCHEMA = { tools: [in_the_schema] });

#[test]
fn defaults_in_three_forms_are_in_the_schema() {
    let tool = tool(&IN_THE_SCHEMA);
    let properties = &tool["inputSchema"]["properties"];
    for (name, default) in [
        ("float", json!(-1.5)),
        ("letter", json!("x")),
        ("text", json!("a \"b\"")),
        ("parsed", json!("imperial")),
        ("number", json!(0)),
        ("single", json!(0.0)),
        ("flag", json!(false)),
        ("empty", json!("")),
        ("map", json!({})),
        ("units", json!("by-the-metre")),
        ("optional", Value::Null),
        ("limit", json!(100)),
        ("least", json!(-128)),
        ("strict", json!(true)),
        ("imperial", json!("imperial")),
        ("shape", json!({ "kind": "Dot" })),
        ("border", json!("None")),
        ("none", Value::Null),
    ] {
        assert_eq!(properties[name]["default"], default, "{name}");
    }
    let inner = &properties["inner"]["properties"];
    assert_eq!(inner["flag"]["default"], false);
    assert_eq!(inner["seven"]["default"], Value::Null);
    assert_eq!(tool["inputSchema"]["required"], json!(["inner"]));
}

#[tool]
#[allow(deprecated, reason = "the compiler warns about each of them")]
fn not_in_the_schema(
    #[arg(default = 60 * 60)] sum: u32,
    #[arg(default = RATIO)] ratio: f64,
    #[arg(default = f64::INFINITY)] infinite: f64,
    #[arg(default = seven())] computed: u8,
    #[arg(default = "a".to_owned())] owned: String,
    #[arg(default = vec![1, -2])] list: Vec<i8>,
    #[arg(default = Some(3))] some: Option<u8>,
) -> String {
    format!("{sum} {ratio} {infinite} {computed} {owned} {list:?} {some:?}")
}

mcp_servlet::export!(static NOT_IN_THE_SCHEMA = { tools: [not_in_the_schema] });

#[test]
fn a_default_in_another_form_is_only_used() {
    let schema = &tool(&NOT_IN_THE_SCHEMA)["inputSchema"];
    assert!(!schema.to_string().contains("default"), "{schema}");
    assert_eq!(schema["required"], Value::Null);
    let result = NOT_IN_THE_SCHEMA.call("not_in_the_schema", json!({}));
    assert_eq!(result.unwrap().text(), "3600 0.25 inf 7 a [1, -2] Some(3)");
}
