use mcp_servlet::prelude::*;

#[tool(readonly)]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
