#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize)]
struct More { a: u8 }

#[derive(Deserialize, Schema)]
struct Thing { #[serde(flatten)] more: Option<More> }

#[tool]
fn greet(thing: Thing) {
    let _ = thing.more.map(|more| more.a);
}
fn main() {}
