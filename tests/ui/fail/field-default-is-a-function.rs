#![deny(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Size {
    #[serde(default = "one")]
    height: u32,
}

fn one() -> u32 {
    1
}

fn main() {}
