#![deny(deprecated)]
use mcp_servlet::prelude::*;
use std::num::NonZeroU8;

/// Doubles.
#[tool]
fn double(
    /// the number
    #[arg(default = NonZeroU8::MIN)] number: NonZeroU8,
) -> u8 {
    number.get() * 2
}

fn main() {}
