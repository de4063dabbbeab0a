use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
#[serde(untagged)]
enum Amount {
    Few { #[schema(max = 10)] count: u8 },
    Text { count: String },
}

fn main() {}
