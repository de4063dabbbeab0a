use mcp_servlet::prelude::*;

#[tool(name = greet)]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
