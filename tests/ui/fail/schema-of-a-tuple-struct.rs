use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Point(f64, f64);

fn main() {}
