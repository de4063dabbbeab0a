#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize)]
struct Person { name: String }

#[tool]
fn greet(person: Person) -> String {
    person.name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
