use mcp_servlet::tool;

/// Greets.
#[tool(icons = "https://example.com/a.png")]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
