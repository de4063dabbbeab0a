use mcp_servlet::prelude::*;

#[resource(uri = "ui://a", ui = { csp: { script: "https://a.example" } })]
fn page() -> &'static str {
    "<!doctype html>"
}

fn main() {}
