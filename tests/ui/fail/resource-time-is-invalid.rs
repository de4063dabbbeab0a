use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme", last_modified = "yesterday")]
fn readme() -> String {
    String::new()
}

fn main() {}
