#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tool: [greet] });
fn main() {}
