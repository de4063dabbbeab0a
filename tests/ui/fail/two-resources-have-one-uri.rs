use mcp_servlet::prelude::*;

#[resource(uri = "docs://readme")]
fn one() -> String { String::new() }

#[resource(uri = "docs://readme")]
fn other() -> String { String::new() }

mcp_servlet::export!(static SERVLET = { resources: [one, other] });

fn main() {}
