use mcp_servlet::prelude::*;

#[resource(uri = "readme.md")]
fn readme() -> &'static str {
    "hello"
}

fn main() {}
