use mcp_servlet::prelude::*;

#[tool]
fn greet<F: Fn(u8) -> u8>(#[arg(min = 1)] times: u8, f: F) -> u8 {
    f(times)
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
