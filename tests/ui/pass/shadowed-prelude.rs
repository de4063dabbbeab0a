//! Nothing that the author calls like something of std gets into an expansion's way.
#![deny(warnings)]
#![allow(deprecated, reason = "most tools here have no descriptions")]
#![forbid(unsafe_code)]
#![allow(dead_code, reason = "they are here to be in the way")]

use mcp_servlet::{Context, Schema, ToolError, tool};

struct String;
struct Option;
struct Result;
struct Vec;
struct Box;
struct Some;
struct None;
struct Ok;
struct Err;
mod std {}
mod core {}
mod serde_json {}

#[derive(serde::Deserialize, Schema)]
struct Arguments {
    text: ::std::string::String,
    other: ::std::option::Option<u8>,
}

#[tool]
fn shout(arguments: Arguments, context: &Context) -> ::std::result::Result<::std::string::String, ToolError> {
    let _ = (context, arguments.other);
    ::std::result::Result::Ok(arguments.text.to_uppercase())
}

mcp_servlet::export!(static SERVLET = { tools: [shout] });

fn main() {
    assert_eq!(SERVLET.client().describe().unwrap().name.as_deref(), ::std::option::Option::Some("shout"));
}
