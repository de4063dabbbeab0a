//! Instances, queues and limits, under calls that go wrong in every way.

mod cancel;
mod compose;
mod egress;
mod failures;
mod faults;
mod hostile;
mod network;
mod paths;
mod pool;
mod prompts;
mod proxy;
mod resources;
#[path = "../support/mod.rs"]
mod support;
mod tools;
mod wasi;

use std::time::{Duration, Instant};

use mcp_servlet_host::{CallToolResult, Servlet};
use mcp_servlet_runtime::{CallError, JsonObject};
use serde_json::json;
use support::tools;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Loops for ever.
const SPIN: &str = "(loop $l (br $l))";
/// Returns how many calls the instance has had, as an exit code.
const COUNT: &str = "(return (global.get $calls))";

fn arguments(what: i32) -> JsonObject {
    json!({ "do": what })
        .as_object()
        .expect("an object")
        .clone()
}

fn call(servlet: &Servlet, what: i32) -> Result<CallToolResult, CallError> {
    servlet.call("t", Some(&arguments(what)))
}

/// That the servlet goes on as if nothing had happened.
fn assert_works(servlet: &Servlet) {
    let result = call(servlet, 0).unwrap_or_else(|error| panic!("the next call: {error}"));
    assert_eq!(result.content()[0]["text"], "ok");
}

/// Waits until something holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
