#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

fn leave() {}

mcp_servlet::export!(static SERVLET = { tools: [greet, leave] });
fn main() {}
