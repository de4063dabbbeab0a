#![allow(deprecated)]
use mcp_servlet::prelude::*;

fn by_value(_: std::fmt::Error) -> ToolError {
    ToolError::new("it is lost")
}

mcp_servlet::export!(static SERVLET = { tools: [], errors: [by_value] });
fn main() {}
