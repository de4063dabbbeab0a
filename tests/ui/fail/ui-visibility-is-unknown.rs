use mcp_servlet::prelude::*;

#[tool(ui = { resource: "ui://a", visibility: [people] })]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
