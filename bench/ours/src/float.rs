//! One tool of two floats.

use mcp_servlet::prelude::*;

/// Adds two numbers.
#[tool]
fn add(
    /// left operand
    a: f64,
    /// right operand
    b: f64,
) -> f64 {
    a + b
}

mcp_servlet::export!(static SERVLET = { tools: [add] });
