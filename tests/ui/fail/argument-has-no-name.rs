use mcp_servlet::prelude::*;

#[tool]
fn greet(_: String) -> String {
    String::new()
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
