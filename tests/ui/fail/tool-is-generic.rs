use mcp_servlet::prelude::*;

#[tool]
fn show<T: ToString>(value: T) -> String {
    value.to_string()
}

mcp_servlet::export!(static SERVLET = { tools: [show] });
fn main() {}
