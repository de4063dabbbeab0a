use mcp_servlet::prelude::*;

#[derive(Serialize, Deserialize, Schema)]
enum State {
    Ready,
    #[serde(skip_deserializing)]
    Legacy,
}

fn main() {}
