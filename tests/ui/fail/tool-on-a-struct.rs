use mcp_servlet::prelude::*;

#[tool]
struct Greet;

fn main() {}
