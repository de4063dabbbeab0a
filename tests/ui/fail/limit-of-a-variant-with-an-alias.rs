use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
enum Payment {
    Free,
    #[serde(alias = "card")]
    Card { #[schema(min_length = 4)] digits: String },
}

fn main() {}
