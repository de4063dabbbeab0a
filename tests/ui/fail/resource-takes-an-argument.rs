use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme")]
fn readme(page: u64) -> String {
    page.to_string()
}

fn main() {}
