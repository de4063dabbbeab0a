#![allow(deprecated)]
#![deny(dead_code)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [] });
fn main() {}
