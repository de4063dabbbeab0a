use mcp_servlet::prelude::*;

#[tool]
fn greet(#[cfg(all())] name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
