use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme", mime_type = "markdown")]
fn readme() -> &'static str {
    ""
}

fn main() {}
