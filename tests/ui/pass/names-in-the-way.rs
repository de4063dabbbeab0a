//! Tools, parameters and fields may have any name.
#![deny(warnings)]
#![allow(deprecated, reason = "most tools here have no descriptions")]
#![allow(non_snake_case, reason = "a parameter called like a constant of the expansion")]
#![forbid(unsafe_code)]

use mcp_servlet::prelude::*;

#[tool]
fn json(arguments: String, context: String, index: u8) -> String {
    format!("{arguments}{context}{index}")
}

#[tool]
fn call(r#type: String, FIELDS: u8) -> String {
    format!("{type}{FIELDS}", r#type = r#type)
}

#[tool]
fn describe(#[arg(rename = "$ref")] reference: String, mut text: String) -> String {
    text.push_str(&reference);
    text
}

#[tool(name = "try")]
fn r#try() {}

const DESCRIPTION: &str = "Tools of any name.";

#[allow(unused_macros)]
macro_rules! env {
    ($name:literal) => {
        compile_error!("not this one")
    };
}

mcp_servlet::export!(pub static SERVLET = {
    instructions: DESCRIPTION,
    tools: [json, call, describe, r#try,],
});

fn main() {
    assert_eq!(SERVLET.client().describe().unwrap().instructions.as_deref(), Some(DESCRIPTION));
    let result = SERVLET.call("call", serde_json::json!({ "type": "a", "FIELDS": 1 })).unwrap();
    assert_eq!(result.text(), "a1");
}
