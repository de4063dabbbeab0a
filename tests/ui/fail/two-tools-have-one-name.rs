#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

#[tool(name = "greet")]
fn hello() {}

mcp_servlet::export!(static SERVLET = { tools: [greet, hello] });
fn main() {}
