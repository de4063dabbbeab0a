use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Person { name: String }

#[tool]
fn greet(#[arg(flatten)] person: Person, times: u8) -> String {
    person.name.repeat(times.into())
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
