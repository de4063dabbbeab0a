use mcp_servlet::prelude::*;

#[tool(icons = { src: "data:,", size: "48x48" })]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
