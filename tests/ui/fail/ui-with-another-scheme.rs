use mcp_servlet::prelude::*;

#[tool(ui = "https://example.com/app")]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
