use mcp_servlet::prelude::*;

/// Reads.
#[tool(parts = 0)]
fn read(path: String) -> String {
    path
}

fn main() {}
