#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(#[arg(default_str = "three")] times: u8) -> u8 {
    times
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
