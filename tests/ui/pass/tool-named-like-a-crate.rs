//! A tool may have the name of a crate, as that of `greet` has in the doctests of its own crate. Paths of the crate begin with `::`.
#![deny(warnings)]
#![forbid(unsafe_code)]

use ::serde_json::Value;
use mcp_servlet::prelude::*;

/// Has the name of a crate that this one depends on.
#[tool]
fn serde_json() -> String {
    ::serde_json::to_string(&Value::Null).unwrap()
}

mcp_servlet::export!(static SERVLET = { tools: [serde_json] });

fn main() {
    assert_eq!(SERVLET.client().describe().unwrap().name.as_deref(), Some("serde_json"));
}
