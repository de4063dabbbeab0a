use mcp_servlet::prelude::*;

#[tool]
extern "C" fn greet(times: u8) -> u8 {
    times
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
fn main() {}
