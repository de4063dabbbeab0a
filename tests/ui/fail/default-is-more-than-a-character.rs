#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Repeats.
#[tool]
fn repeat(#[arg(default = "ab")] _value: char) {}

fn main() {}
