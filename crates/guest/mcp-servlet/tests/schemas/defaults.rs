//! Which defaults appear in the schema.

use std::collections::BTreeMap;

use mcp_servlet::prelude::*;
use serde_json::{Value, json};

use crate::probe::tool;

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

const LIMIT: u16 = 100;
const RATIO: f64 = 0.25;
const THIRD: f64 = 1.0 / 3.0;

#[tool]
#[allow(
    clippy::too_many_arguments,
    reason = "one tool compiles faster than many"
)]
fn defaults(
    #[arg(default)] number: i64,
    #[arg(default)] float: f32,
    #[arg(default)] flag: bool,
    #[arg(default)] text: String,
    #[arg(default)] map: BTreeMap<String, u8>,
    #[arg(default)] units: Units,
    #[arg(default = Units::Imperial)] imperial: Units,
    #[arg(default = Some(Units::Imperial))] perhaps: Option<Units>,
    #[arg(default = Shape::Dot)] shape: Shape,
    #[arg(default = 60 * 60)] sum: u32,
    #[arg(default = LIMIT - 1)] limit: u16,
    #[arg(default = i8::MIN)] least: i8,
    #[arg(default = RATIO / 2.0)] ratio: f64,
    #[arg(default = THIRD)] third: f64,
    #[arg(default = std::f32::consts::PI)] pi: f32,
    #[arg(default = 1e300 * -1.5)] huge: f64,
    #[arg(default = LIMIT > 1)] not: bool,
    #[arg(default = Some(LIMIT * 2))] some: Option<u16>,
    #[arg(default = "a \"b\"".to_owned())] owned: String,
    #[arg(default = vec![1, -2])] list: Vec<i8>,
    #[arg(default = Vec::new())] empty: Vec<u8>,
    #[arg(default = None)] none: Option<u8>,
    #[arg(default)] optional: Option<u8>,
    #[arg(default = seven())] computed: u8,
    inner: Inner,
) {
    let _ = (
        number, float, flag, text, map, units, imperial, perhaps, shape, sum, limit, least,
    );
    let _ = (
        ratio, third, pi, huge, not, some, owned, list, empty, none, optional, computed, inner,
    );
}

mcp_servlet::export!(static DEFAULTS = { tools: [defaults] });

#[test]
fn defaults_are_in_the_schema_where_they_are_known_before_anything_runs() {
    let tool = tool(&DEFAULTS);
    let properties = &tool["inputSchema"]["properties"];
    for (name, default) in [
        ("number", json!(0)),
        ("float", json!(0.0)),
        ("flag", json!(false)),
        ("text", json!("")),
        ("map", json!({})),
        ("units", json!("by-the-metre")),
        ("imperial", json!("imperial")),
        ("perhaps", json!("imperial")),
        ("shape", json!({ "kind": "Dot" })),
        ("sum", json!(3600)),
        ("limit", json!(99)),
        ("least", json!(-128)),
        ("ratio", json!(0.125)),
        ("third", json!(1.0 / 3.0)),
        ("pi", json!("3.1415927".parse::<f64>().unwrap())),
        ("huge", json!(-1.5e300)),
        ("not", json!(true)),
        ("some", json!(200)),
        ("owned", json!("a \"b\"")),
        ("list", json!([1, -2])),
        ("empty", json!([])),
        ("none", Value::Null),
        ("optional", Value::Null),
        ("computed", Value::Null),
    ] {
        assert_eq!(properties[name]["default"], default, "{name}");
    }
    let inner = &properties["inner"]["properties"];
    assert_eq!(inner["flag"]["default"], false);
    assert_eq!(inner["seven"]["default"], Value::Null);
    assert_eq!(tool["inputSchema"]["required"], json!(["inner"]));
}
