use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Line { #[schema(max_length = 3)] text: String }

#[derive(Deserialize, Schema)]
struct Order {
    #[serde(alias = "rows")]
    lines: Vec<Line>,
}

fn main() {}
