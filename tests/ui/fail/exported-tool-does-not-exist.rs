#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [great] });
fn main() { greet(String::new()); }
