use mcp_servlet::prelude::*;

#[tool]
fn make() -> impl IntoToolResult {
    "text"
}

mcp_servlet::export!(static SERVLET = { tools: [make] });
fn main() {}
