use mcp_servlet::prelude::*;

#[prompt]
fn ask() -> u64 {
    7
}

mcp_servlet::export!(static SERVLET = { prompts: [ask] });

fn main() {}
