//! The greeting, with a variable that is read and written.

use mcp_servlet::prelude::*;

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    context: &Context,
    /// the name of the person to greet
    name: String,
) -> String {
    let last = context.var("last").unwrap_or_default();
    context.set_var("last", name.as_bytes());
    format!("Hello, {name}! {}", last.len())
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
