#![deny(deprecated)]
use mcp_servlet::prelude::*;

/// Doubles.
#[tool]
fn double(
    /// the number
    #[arg(default = f64::INFINITY)] number: f64,
) -> f64 {
    number * 2.0
}

fn main() {}
