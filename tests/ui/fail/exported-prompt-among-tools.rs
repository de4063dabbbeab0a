use mcp_servlet::prelude::*;

#[prompt]
fn poem() -> String {
    String::new()
}

mcp_servlet::export!(static SERVLET = { tools: [poem] });

fn main() {}
