#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Counts.
#[tool(parts = 100)]
fn count(text: String) -> usize {
    text.len()
}

fn main() {}
