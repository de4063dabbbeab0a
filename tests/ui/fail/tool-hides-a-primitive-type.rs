use mcp_servlet::prelude::*;

#[tool]
fn u32(text: String) -> String {
    text
}

mcp_servlet::export!(static SERVLET = { tools: [u32] });
fn main() {}
