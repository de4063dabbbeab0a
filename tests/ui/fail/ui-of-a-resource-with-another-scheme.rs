use mcp_servlet::prelude::*;

#[resource(uri = "docs://a", ui = { prefers_border: true })]
fn page() -> &'static str {
    "<!doctype html>"
}

fn main() {}
