use mcp_servlet::Schema;

#[derive(serde::Deserialize, Schema)]
struct Id(#[schema(example = 7)] u64);

fn main() {}
