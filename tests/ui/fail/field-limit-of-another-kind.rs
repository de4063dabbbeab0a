use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
struct Order { #[schema(max_length = 5)] count: u8 }

/// Orders.
#[tool]
fn order(#[arg(flatten)] order: Order) -> u8 { order.count }

mcp_servlet::export!(static SERVLET = { tools: [order] });
fn main() {}
