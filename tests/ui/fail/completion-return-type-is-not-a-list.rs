use mcp_servlet::prelude::*;

#[prompt]
fn ask(name: String) -> String { name }

#[completion(of = ask.name)]
fn names() -> u64 { 7 }

mcp_servlet::export!(static SERVLET = { prompts: [ask], completions: [names] });

fn main() {}
