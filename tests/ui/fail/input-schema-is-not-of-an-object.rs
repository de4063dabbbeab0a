#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool(input_schema = r#"{"type":"array"}"#)]
fn greet(names: Vec<String>) -> String {
    names.concat()
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
