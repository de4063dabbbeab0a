use mcp_servlet::prelude::*;

#[derive(FromText)]
struct Ratio(u32, u32);

fn main() {}
