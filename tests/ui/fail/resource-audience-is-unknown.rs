use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme", audience = "everyone")]
fn readme() -> String {
    String::new()
}

fn main() {}
