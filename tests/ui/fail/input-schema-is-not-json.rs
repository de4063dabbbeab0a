#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool(input_schema = r#"{"type":"object",}"#)]
fn show(arguments: RawJson) -> String {
    arguments.to_string()
}

mcp_servlet::export!(static SERVLET = { tools: [show] });
fn main() {}
