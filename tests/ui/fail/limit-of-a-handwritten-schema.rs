use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Order {
    #[schema(json = r#"{ "type": "string" }"#, max_length = 5)]
    name: String,
}

fn main() {}
