#![allow(deprecated)]
use mcp_servlet::prelude::*;

struct Lost;

fn lost(_: &Lost) -> ToolError {
    ToolError::new("it is lost")
}

mcp_servlet::export!(static SERVLET = { tools: [], errors: [lost] });
fn main() {}
