use mcp_servlet::prelude::*;

#[tool]
fn add(a: f64, #[arg(rename = "a")] b: f64) -> f64 {
    a + b
}

mcp_servlet::export!(static SERVLET = { tools: [add] });
fn main() {}
