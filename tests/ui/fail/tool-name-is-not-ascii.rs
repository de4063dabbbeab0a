use mcp_servlet::prelude::*;

#[tool]
fn grüße(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [grüße] });
fn main() {}
