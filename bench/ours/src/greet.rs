//! One tool of one string.

use mcp_servlet::prelude::*;

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    /// the name of the person to greet
    name: String,
) -> String {
    format!("Hello, {name}!")
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
