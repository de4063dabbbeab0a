#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(#[arg(min = 1)] name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
