use mcp_servlet::{PageUi, tool};

/// Greets.
#[tool(ui = PageUi::new().connect(&["https://a.example"]))]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

fn main() {}
