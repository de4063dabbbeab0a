use mcp_servlet::Schema;

#[derive(serde::Deserialize, Schema)]
#[serde(rename_all(deserialize = "camelCase"))]
struct Person {
    full_name: String,
}

fn main() {}
