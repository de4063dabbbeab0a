use mcp_servlet::Schema;

#[derive(serde::Deserialize, Schema)]
enum Color {
    #[schema(example = "red")]
    Red,
}

fn main() {}
