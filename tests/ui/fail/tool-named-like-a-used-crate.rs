use mcp_servlet::prelude::*;
use serde_json::Value;

/// Writes JSON.
#[tool]
fn serde_json() -> String {
    Value::Null.to_string()
}

mcp_servlet::export!(static SERVLET = { tools: [serde_json] });
fn main() {}
