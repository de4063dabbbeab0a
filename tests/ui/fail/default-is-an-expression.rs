#![deny(deprecated)]
use mcp_servlet::prelude::*;

/// Waits.
#[tool]
fn wait(
    /// seconds
    #[arg(default = 60 * 60)] time: u32,
) -> u32 {
    time
}

fn main() {}
