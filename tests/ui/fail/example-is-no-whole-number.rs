#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Repeats.
#[tool]
fn repeat(#[arg(example = 1.5)] _value: u32) {}

fn main() {}
