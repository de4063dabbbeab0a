use mcp_servlet::prelude::*;

#[tool]
fn show(value: impl ToString) -> String {
    value.to_string()
}

mcp_servlet::export!(static SERVLET = { tools: [show] });
fn main() {}
