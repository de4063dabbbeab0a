use mcp_servlet::prelude::*;

#[tool]
fn greet(#[arg(max = "ten")] times: u8) -> u8 {
    times
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
