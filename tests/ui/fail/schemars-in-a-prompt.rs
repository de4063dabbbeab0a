use mcp_servlet::prelude::*;

#[prompt]
fn ask(#[arg(schemars)] topic: String) -> String {
    topic
}

mcp_servlet::export!(static SERVLET = { prompts: [ask] });
fn main() {}
