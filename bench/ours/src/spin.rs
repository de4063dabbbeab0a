//! A tool that returns at once, and one that keeps a processor busy.

use std::hint::black_box;

use mcp_servlet::prelude::*;

/// A very simple tool to provide a greeting.
#[tool]
fn greet(
    /// the name of the person to greet
    name: String,
) -> String {
    format!("Hello, {name}!")
}

/// Keeps a processor busy.
#[tool]
fn spin(
    /// how often to go round
    rounds: u64,
) -> u64 {
    (0..rounds).fold(1, |state, round| black_box(state ^ round))
}

mcp_servlet::export!(static SERVLET = { tools: [greet, spin] });
