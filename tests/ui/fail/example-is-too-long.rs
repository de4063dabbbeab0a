#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Repeats.
#[tool]
fn repeat(#[arg(example = "words", max_length = 4)] _word: String) {}

fn main() {}
