#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(SERVLET = { tools: [greet] });
fn main() {}
