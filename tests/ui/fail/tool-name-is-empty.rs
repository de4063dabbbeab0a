use mcp_servlet::prelude::*;

#[tool(name = "")]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
