use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Count(#[schema(max = 5)] u8);

fn main() {}
