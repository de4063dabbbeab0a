use mcp_servlet::prelude::*;

#[prompt]
fn ask(name: String) -> String { name }

#[completion(of = ask.name)]
fn short() -> Vec<String> { Vec::new() }

#[completion(of = ask.name)]
fn long() -> Vec<String> { Vec::new() }

mcp_servlet::export!(static SERVLET = { prompts: [ask], completions: [short, long] });

fn main() {}
