use mcp_servlet::{Meta, ToolUi, tool};

/// Greets.
#[tool(ui = ToolUi::page("ui://a"), meta = [Meta::json("ui", "{}")])]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
