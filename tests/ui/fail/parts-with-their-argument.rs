use mcp_servlet::prelude::*;

/// Reads.
#[tool(parts = 100)]
fn read(path: String, max_length: usize) -> String {
    path[..max_length].to_owned()
}

fn main() {}
