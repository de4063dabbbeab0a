use mcp_servlet::prelude::*;

struct Point { x: f64, y: f64 }

#[tool]
fn length(Point { x, y }: Point) -> f64 {
    x.hypot(y)
}

mcp_servlet::export!(static SERVLET = { tools: [length] });
fn main() {}
