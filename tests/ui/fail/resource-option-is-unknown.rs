use mcp_servlet::prelude::*;

#[resource(url = "docs://readme", uri = "docs://readme")]
fn readme() -> String {
    String::new()
}

fn main() {}
