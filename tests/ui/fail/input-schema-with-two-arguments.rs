use mcp_servlet::prelude::*;

#[tool(input_schema = r#"{"type":"object"}"#)]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

mcp_servlet::export!(static SERVLET = { tools: [add] });
fn main() {}
