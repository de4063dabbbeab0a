#![deny(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Default, Deserialize, Schema)]
struct Point {
    x: i32,
}

#[derive(Deserialize, Schema)]
struct Line {
    #[serde(default)]
    start: Point,
}

fn main() {}
