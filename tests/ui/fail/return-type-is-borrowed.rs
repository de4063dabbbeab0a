use mcp_servlet::prelude::*;

/// Says where.
#[tool]
fn name(_context: &Context) -> &str {
    "here"
}

fn main() {}
