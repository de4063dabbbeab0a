use mcp_servlet::{Meta, resource};

/// A page.
#[resource(uri = "docs://a", meta = [Meta::integer("a", 1), Meta::integer("a", 2)])]
fn page() -> &'static str {
    ""
}

fn main() {}
