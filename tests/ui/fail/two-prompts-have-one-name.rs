use mcp_servlet::prelude::*;

#[prompt]
fn ask() -> String { String::new() }

#[prompt(name = "ask")]
fn ask_again() -> String { String::new() }

mcp_servlet::export!(static SERVLET = { prompts: [ask, ask_again] });

fn main() {}
