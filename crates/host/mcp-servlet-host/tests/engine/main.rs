//! Instances, queues and limits, with calls that fail in many ways.

#![allow(
    clippy::disallowed_methods,
    reason = "tasks of a test end with its runtime"
)]

mod callees;
mod cancel;
mod compose;
mod egress;
mod failures;
mod faults;
mod gate;
mod hostile;
mod listeners;
mod network;
mod paths;
mod pool;
mod prompts;
mod proxy;
mod resources;
mod reuse;
mod search;
#[path = "../support/mod.rs"]
mod support;
mod tools;
mod usage;
mod wasi;

use mcp_servlet_call::{CallError, JsonObject};
use mcp_servlet_host::{CallToolResult, Servlet};
use mcp_servlet_runtime::block_on;
use serde_json::json;
use support::tools;

/// Loops forever.
const SPIN: &str = "(loop $l (br $l))";
/// Returns how many calls the instance has had as an exit code.
const COUNT: &str = "(return (global.get $calls))";

fn arguments(what: i32) -> JsonObject {
    json!({ "do": what })
        .as_object()
        .expect("an object")
        .clone()
}

fn call(servlet: &Servlet, what: i32) -> Result<CallToolResult, CallError> {
    block_on(servlet.call("t", Some(&arguments(what))))
}

/// Asserts that the servlet still works.
fn assert_works(servlet: &Servlet) {
    let result = call(servlet, 0).unwrap_or_else(|error| panic!("the next call: {error}"));
    assert_eq!(result.text(), "ok");
}
