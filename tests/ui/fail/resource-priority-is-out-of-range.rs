use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme", priority = 2)]
fn readme() -> String {
    String::new()
}

fn main() {}
