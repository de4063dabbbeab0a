use mcp_servlet::prelude::*;

#[tool(title = "Greet", title = "Hello")]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
