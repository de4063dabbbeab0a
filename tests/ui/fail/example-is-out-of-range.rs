#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Repeats.
#[tool]
fn repeat(#[arg(example = 300)] _value: u8) {}

fn main() {}
