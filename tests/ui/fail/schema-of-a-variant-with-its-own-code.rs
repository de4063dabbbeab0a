use mcp_servlet::prelude::*;

mod hex {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(_: D) -> Result<u32, D::Error> { Ok(0) }
}

#[derive(Deserialize, Schema)]
enum Color {
    #[serde(deserialize_with = "hex::deserialize")]
    Rgb(u32),
}

fn main() {}
