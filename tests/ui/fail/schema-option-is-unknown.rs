use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Person {
    #[schema(exmple = "Ada")]
    name: String,
}

fn main() {}
