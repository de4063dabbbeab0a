use mcp_servlet::prelude::*;

#[resource]
fn readme() -> &'static str {
    "hello"
}

fn main() {}
