//! Tools and `export!` may stand inside a function, and a constant next to them too.
#![deny(warnings)]
#![allow(deprecated, reason = "most tools here have no descriptions")]
#![forbid(unsafe_code)]

use mcp_servlet::prelude::*;

fn main() {
    const TEXT: &str = "Tools of any name.";

    #[tool]
    fn local() {}
    mcp_servlet::export!(static LOCAL = { instructions: TEXT, tools: [local] });

    assert_eq!(LOCAL.client().describe().unwrap().name.as_deref(), Some("local"));
    assert_eq!(LOCAL.client().describe().unwrap().instructions.as_deref(), Some(TEXT));
}
