//! The greeting, with a configuration value.

use mcp_servlet::prelude::*;

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    context: &Context,
    /// the name of the person to greet
    name: String,
) -> String {
    let greeting = context.config_value("greeting").unwrap_or_default();
    format!("{greeting}, {name}!")
}

mcp_servlet::export!(static SERVLET = { tools: [greet] });
