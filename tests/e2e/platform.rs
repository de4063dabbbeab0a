//! The errors of a servlet that uses what std lacks on wasm32-unknown-unknown.

use e2e::fixture;
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{LoadOptions, block_on};
use serde_json::{Value, json};

use crate::support::{load, object, text};

fn servlet() -> Servlet {
    load(&fixture("platform"), &LoadOptions::default())
}

/// The error of a call that ends the servlet.
fn stop(tool: &str, arguments: &Value) -> String {
    let error = block_on(servlet().call(tool, Some(object(arguments))));
    error.expect_err(tool).to_string()
}

#[test]
fn a_stack_overflow_is_called_one() {
    let message = stop("recurse", &json!({ "depth": 0 }));
    assert!(
        message.contains("most likely a stack overflow: recursion without end"),
        "{message}"
    );
}

#[test]
fn the_time_of_std_points_to_that_of_the_host() {
    let message = stop("time", &json!({}));
    assert!(message.contains("use `Context::now`"), "{message}");
}

#[test]
fn starting_a_thread_is_an_error() {
    let message = stop("thread", &json!({}));
    assert!(message.contains("a servlet has one thread"), "{message}");
}

#[test]
fn a_file_points_to_the_target_that_has_files() {
    let arguments = json!({ "path": "/etc/hosts" });
    let result = block_on(servlet().call("file", Some(object(&arguments))));
    let result = result.expect("an answer of the tool");
    assert!(result.is_error());
    assert!(text(&result).contains("operation not supported on this platform"));
}
