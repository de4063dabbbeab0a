use mcp_servlet::prelude::*;

/// A note.
#[resource_template(uri_template = "note://{name}")]
fn note(#[arg(max_length = 5)] name: String) -> String {
    name
}

fn main() {}
