#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
#[serde(tag = "kind")]
enum Shape { Dot, Circle(u32) }

#[tool]
fn draw(shape: Shape) {
    let _ = shape;
}
mcp_servlet::export!(static SERVLET = { tools: [draw] });
fn main() {}
