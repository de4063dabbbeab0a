use mcp_servlet::prelude::*;

#[tool(icons = "http://example.com/a.png")]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
