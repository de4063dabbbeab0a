use mcp_servlet::prelude::*;

#[tool]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

mcp_servlet::export!(static SERVLET = { tools: [shout] });
fn main() {}
