use mcp_servlet::prelude::*;

#[completion(of = ask)]
fn names() -> [&'static str; 0] {
    []
}

fn main() {}
