use mcp_servlet::prelude::*;

#[prompt]
fn ask(name: String) -> String { name }

#[completion(of = ask.nam)]
fn names() -> Vec<String> { Vec::new() }

mcp_servlet::export!(static SERVLET = { prompts: [ask], completions: [names] });

fn main() {}
