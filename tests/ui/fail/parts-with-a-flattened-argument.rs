use mcp_servlet::prelude::*;

/// Reads.
#[tool(parts = 100)]
fn read(#[arg(flatten)] path: RawJson) -> String {
    path.into_string()
}

fn main() {}
