use std::collections::BTreeMap;

use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Order {
    #[serde(flatten)]
    #[schema(max_items = 3)]
    rest: BTreeMap<String, u8>,
}

fn main() {}
