#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] name: "greeter" });

fn main() {}
