#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String {
    name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });

mod other {
    mcp_servlet::export!(static SERVLET = { tools: [super::greet] });
}

fn main() {}
