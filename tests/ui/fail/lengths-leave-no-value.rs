use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Order { #[schema(min_items = 3, max_items = 2)] names: Vec<String> }

fn main() {}
