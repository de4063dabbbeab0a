use mcp_servlet::{StaticIcon, tool};

/// Greets.
#[tool(icons = [StaticIcon::new("http://example.com/a.png")])]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
