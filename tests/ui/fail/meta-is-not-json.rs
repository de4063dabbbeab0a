use mcp_servlet::prelude::*;

#[tool(meta = { key: word })]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
