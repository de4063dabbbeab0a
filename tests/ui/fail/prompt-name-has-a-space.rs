use mcp_servlet::prelude::*;

#[prompt(name = "ask it")]
fn ask() -> String {
    String::new()
}

fn main() {}
