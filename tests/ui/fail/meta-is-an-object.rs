use mcp_servlet::tool;

/// Greets.
#[tool(meta = { "example.com/cost": 2 })]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
