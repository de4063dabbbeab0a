use mcp_servlet::resource;

/// A page.
#[resource(uri = "docs://a", ui = mcp_servlet::PageUi::new().prefers_border(true))]
fn page() -> &'static str {
    "<!doctype html>"
}

fn main() {}
