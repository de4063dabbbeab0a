#![allow(deprecated)]
use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
enum Size { Small, Large }

#[tool]
fn order(#[arg(default)] size: Size) -> bool {
    matches!(size, Size::Large)
}

mcp_servlet::export!(static SERVLET = { tools: [order] });
fn main() { let _ = Size::Small; }
