use mcp_servlet::prelude::*;

struct Opaque;

#[resource(uri = "docs://readme")]
fn readme() -> Opaque {
    Opaque
}

mcp_servlet::export!(static SERVLET = { resources: [readme] });

fn main() {}
