use mcp_servlet::prelude::*;

#[tool]
fn greet(#[arg(rename = "")] name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
