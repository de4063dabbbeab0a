#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[tool]
fn greet(name: String) -> String { name }

#[completion(of = greet.name)]
fn names() -> Vec<String> { Vec::new() }

mcp_servlet::export!(static SERVLET = { tools: [greet], completions: [names] });

fn main() {}
