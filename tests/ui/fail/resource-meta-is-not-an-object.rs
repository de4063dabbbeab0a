use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme", meta = "[1]")]
fn readme() -> String {
    String::new()
}

mcp_servlet::export!(static SERVLET = { resources: [readme] });

fn main() {}
