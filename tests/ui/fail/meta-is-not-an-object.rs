#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool(meta = "[1]")]
fn greet() {}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
