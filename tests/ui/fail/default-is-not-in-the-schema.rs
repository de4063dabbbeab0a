#![deny(deprecated)]
use mcp_servlet::prelude::*;

/// Doubles a number.
#[tool]
fn double(
    /// the number
    #[arg(default = std::process::id())]
    number: u32,
) -> u32 {
    number * 2
}

fn main() {}
