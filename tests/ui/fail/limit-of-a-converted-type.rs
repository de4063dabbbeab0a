use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
#[serde(from = "u8")]
struct Percent { #[schema(max = 100)] value: u8 }

impl From<u8> for Percent {
    fn from(value: u8) -> Self { Self { value } }
}

fn main() {}
