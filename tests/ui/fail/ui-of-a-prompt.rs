use mcp_servlet::prompt;

/// Asks.
#[prompt(ui = mcp_servlet::ToolUi::page("ui://a"))]
fn ask() -> &'static str {
    "?"
}

fn main() {}
