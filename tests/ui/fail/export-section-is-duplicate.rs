#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet() -> String {
    String::new()
}

mcp_servlet::export!(static SERVLET = { tools: [greet], tools: [greet] });

fn main() {}
