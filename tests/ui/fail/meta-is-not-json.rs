use mcp_servlet::{Meta, tool};

/// Greets.
#[tool(meta = [Meta::json("key", "word")])]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
