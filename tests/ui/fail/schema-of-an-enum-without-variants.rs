use mcp_servlet::Schema;

#[derive(serde::Deserialize, Schema)]
enum Never {
    #[serde(skip)]
    Skipped,
}

fn main() {}
