use mcp_servlet::prelude::*;

#[derive(Deserialize)]
struct Inner;

#[derive(Deserialize, Schema)]
struct Outer {
    inner: Inner,
}

fn main() {}
