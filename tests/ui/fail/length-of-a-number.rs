#![allow(deprecated)]
use mcp_servlet::prelude::*;

/// Repeats.
#[tool]
fn repeat(#[arg(max_length = 5)] times: u8) -> u8 {
    times
}

mcp_servlet::export!(static SERVLET = { tools: [repeat] });
fn main() {}
