use mcp_servlet::prelude::*;

#[resource(uri = "docs://{page}")]
fn readme() -> &'static str {
    "hello"
}

fn main() {}
