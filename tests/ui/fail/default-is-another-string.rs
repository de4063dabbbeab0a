use mcp_servlet::prelude::*;

#[derive(Deserialize, Schema)]
enum Color {
    Red,
    Green,
}

/// Paints.
#[tool]
fn paint(#[arg(default_str = "Blue")] _color: Color) {}

fn main() {}
