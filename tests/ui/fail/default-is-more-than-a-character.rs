#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Repeats.
#[tool]
fn repeat(#[arg(default_str = "ab")] _value: char) {}

fn main() {}
