use mcp_servlet::prelude::*;

#[tool(ui = { resource: "ui://a", csp: { connect: "https://a.example" } })]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
