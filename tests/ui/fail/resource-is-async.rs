use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme")]
async fn readme() -> String {
    String::new()
}

fn main() {}
