#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet() -> String {
    String::new()
}

mcp_servlet::export!(static SERVLET = { prompts: [greet] });

fn main() {}
