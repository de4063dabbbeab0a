#![deny(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn add(
    /// the first
    a: i64,
) -> i64 {
    a
}

fn main() {}
