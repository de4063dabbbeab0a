#![allow(deprecated)]
use mcp_servlet::prelude::*;

struct Opaque;

#[tool]
fn make() -> Opaque {
    Opaque
}

mcp_servlet::export!(static SERVLET = { tools: [make] });
fn main() {}
