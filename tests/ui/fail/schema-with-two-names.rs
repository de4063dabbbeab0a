use mcp_servlet::prelude::*;

#[derive(Deserialize, Serialize, Schema)]
struct Person {
    #[serde(rename(serialize = "name", deserialize = "fullName"))]
    name: String,
}

fn main() {}
