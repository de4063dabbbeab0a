use mcp_servlet::prelude::*;

#[tool("greet")]
fn greet() {}

fn main() {}
