use mcp_servlet::prelude::*;

#[completion]
fn names() -> [&'static str; 0] {
    []
}

fn main() {}
