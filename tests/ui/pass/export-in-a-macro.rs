//! A macro of the servlet's crate may list its functions with `$crate`.
#![deny(warnings)]

use mcp_servlet::prelude::*;

/// Greets.
#[tool]
fn greet() {}

macro_rules! serve {
    ($name:ident) => {
        mcp_servlet::export!(static $name = { tools: [$crate::greet] });
    };
}

serve!(SERVLET);

fn main() {
    assert_eq!(SERVLET.client().describe().unwrap().name.as_deref(), Some("greet"));
}
