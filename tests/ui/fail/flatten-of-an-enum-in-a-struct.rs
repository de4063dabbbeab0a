#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
enum Kind { A { a: u8 }, B { b: u8 } }

#[derive(Deserialize, Schema)]
struct Thing { #[serde(flatten)] kind: Kind }

#[tool]
fn greet(thing: Thing) {
    let _ = thing.kind;
}
mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
