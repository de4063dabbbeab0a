use mcp_servlet::prelude::*;

/// Greets.
#[tool]
fn greet(
    /// whom
    #[arg(default = "world")] name: String,
) -> String {
    format!("Hello, {name}!")
}

fn main() {}
