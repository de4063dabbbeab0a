use mcp_servlet::prelude::*;

#[prompt]
fn ask(#[arg(flatten)] all: String) -> String {
    all
}

fn main() {}
