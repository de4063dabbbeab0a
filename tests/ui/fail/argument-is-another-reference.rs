#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: &String) -> String {
    name.clone()
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
