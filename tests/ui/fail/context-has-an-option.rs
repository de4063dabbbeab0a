use mcp_servlet::prelude::*;

#[tool]
fn greet(#[arg(rename = "c")] context: &Context) {}

fn main() {}
