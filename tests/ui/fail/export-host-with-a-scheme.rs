use mcp_servlet::prelude::*;

/// Greets.
#[tool]
fn greet() -> &'static str {
    "hi"
}

mcp_servlet::export!(static SERVLET = { tools: [greet], hosts: ["https://api.example"] });

fn main() {}
