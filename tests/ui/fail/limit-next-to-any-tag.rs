use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
#[serde(tag = "by")]
enum Payment {
    Card { #[schema(min_length = 4)] digits: String },
    #[serde(other)]
    Other,
}

fn main() {}
