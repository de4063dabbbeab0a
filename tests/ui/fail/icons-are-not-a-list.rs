use mcp_servlet::{StaticIcon, tool};

/// Greets.
#[tool(icons = StaticIcon::new("data:,"))]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
