use mcp_servlet::prelude::*;

#[tool]
fn shout(text: Option<Vec<&str>>) -> String {
    text.unwrap_or_default().concat().to_uppercase()
}

mcp_servlet::export!(static SERVLET = { tools: [shout] });
fn main() {}
