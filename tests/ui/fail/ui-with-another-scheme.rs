use mcp_servlet::{ToolUi, tool};

/// Greets.
#[tool(ui = ToolUi::page("https://example.com/app"))]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
