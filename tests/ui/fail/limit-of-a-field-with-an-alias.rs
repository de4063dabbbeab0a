use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Order {
    #[serde(alias = "number")]
    #[schema(max = 5)]
    count: u8,
}

fn main() {}
