#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Schema)]
struct Person { name: String }

#[tool]
fn find(name: String) -> Json<Person> {
    Json(Person { name })
}

mcp_servlet::export!(static SERVLET = { tools: [find] });
fn main() {}
