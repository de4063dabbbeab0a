#![deny(deprecated)]
use mcp_servlet::prelude::*;

/// Doubles a number.
#[tool]
fn double(number: Option<i64>) -> i64 {
    number.unwrap_or(1) * 2
}

fn main() {}
