use mcp_servlet::prelude::*;

#[tool(icons = { theme: dark })]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
