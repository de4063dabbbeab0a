use mcp_servlet::prelude::*;

#[derive(Default, Deserialize, Schema)]
struct Person { name: String }

#[tool]
fn greet(#[arg(flatten, default)] person: Person) -> String {
    person.name
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
