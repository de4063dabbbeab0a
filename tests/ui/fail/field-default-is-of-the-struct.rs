#![deny(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Default, Deserialize, Schema)]
#[serde(default)]
struct Size {
    height: u32,
    unit: Option<String>,
}

fn main() {}
