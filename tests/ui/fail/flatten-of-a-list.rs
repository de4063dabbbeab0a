#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(#[arg(flatten)] names: Vec<String>) -> String {
    names.join(", ")
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
