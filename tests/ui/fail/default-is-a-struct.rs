#![deny(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Default, Deserialize, Schema)]
struct Size { width: u8 }

/// Draws.
#[tool]
fn draw(#[arg(default)] size: Size) -> u8 {
    size.width
}

fn main() {}
