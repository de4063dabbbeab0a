//! What servlets pass to `call_tool`, and the state that a client sends back.
//!
//! The first line is a request of the servlet, the rest is the state.

use std::sync::LazyLock;

use mcp_servlet_call::{JsonObject, RequestMeta};
use mcp_servlet_host::{Host, Servlet};
use mcp_servlet_runtime::{CALL, Guest, LoadOptions, Source, block_on};
use serde_json::{Value, json};

/// Passes its input to `call_tool`, and returns the answer.
const CALLER: &str = r#"(module
    (import "extism:host/user" "call_tool" (func $call_tool (param i64) (result i64)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "input_length" (func $input_length (result i64)))
    (import "extism:host/env" "input_load_u8" (func $input (param i64) (result i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (memory 1)
    (data (i32.const 0) "{\"tools\":[]}")
    OUTPUT
    (func (export "describe") (result i32) (call $output (i32.const 0) (i32.const 12)))
    (func (export "call") (result i32) (local $block i64) (local $i i64)
        (local.set $block (call $alloc (call $input_length)))
        (block $done (loop $next
            (br_if $done (i64.ge_u (local.get $i) (call $input_length)))
            (call $store (i64.add (local.get $block) (local.get $i)) (call $input (local.get $i)))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br $next)))
        (local.set $block (call $call_tool (local.get $block)))
        (call $output_set (local.get $block) (call $length (local.get $block)))
        (i32.const 0)))"#;

/// Has a tool `t` that returns nothing, and one resource.
const CALLEE: &str = r#"(module
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (memory 1)
    OUTPUT
    (data (i32.const 0) "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"x\":{\"type\":\"string\"}}}}]}")
    (data (i32.const 100) "{\"content\":[]}")
    (data (i32.const 200) "{\"contents\":[{\"uri\":\"x:1\",\"text\":\"\"}]}")
    (func (export "describe") (result i32) (call $output (i32.const 0) (i32.const 77)))
    (func (export "read_resource") (result i32) (call $output (i32.const 200) (i32.const 38)))
    (func (export "call") (result i32) (call $output (i32.const 100) (i32.const 14))))"#;

/// Returns a constant, which stands for `OUTPUT` above.
pub(crate) const OUTPUT: &str = "(func $output (param $from i32) (param $length i32) (result i32) (local $to i64) (local $i i32)
        (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
        (block $done (loop $next
            (br_if $done (i32.ge_u (local.get $i) (local.get $length)))
            (call $store (i64.add (local.get $to) (i64.extend_i32_u (local.get $i)))
                (i32.load8_u (i32.add (local.get $from) (local.get $i))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $next)))
        (call $output_set (local.get $to) (i64.extend_i32_u (local.get $length)))
        (i32.const 0))";

struct Fixture {
    caller: Guest,
    host: Host,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let source = |name: &str, wat: &str| Source::Bytes {
        name: name.to_owned(),
        wasm: wat::parse_str(wat.replace("OUTPUT", OUTPUT)).expect("valid WebAssembly text"),
    };
    let mut options = LoadOptions::default();
    let grant = || "callee:*".parse().expect("a grant");
    options.allowed_tools = vec![grant()];
    options.allowed_resources = vec![grant()];
    let load = |name, wat| Servlet::load(source(name, wat), &options).expect("a servlet");
    Fixture {
        caller: Guest::load(source("caller", CALLER), &options).expect("a module"),
        host: Host::new(vec![load("caller", CALLER), load("callee", CALLEE)]),
    }
});

pub(crate) fn run(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (request, state) = bytes.split_at(end.unwrap_or(bytes.len()));
    let mut request_meta = RequestMeta::default();
    request_meta.callees = FIXTURE.host.callees().cloned();
    let state = String::from_utf8_lossy(state.get(1..).unwrap_or_default());
    request_meta.request_state = (!state.is_empty()).then(|| state.to_string());
    request_meta.input_responses = json!({ "callee:t.x": {} }).as_object().cloned();
    let caller = &FIXTURE.caller;
    // What the servlet gets of the state is read as well; its input is what is passed on.
    let mut job = caller.request(CALL, &JsonObject::new(), &request_meta);
    job.input = request.to_vec();
    let Ok(output) = block_on(caller.run(job)) else {
        // The request is no JSON.
        assert!(
            serde_json::from_slice::<Value>(request).is_err(),
            "a JSON request gets an answer"
        );
        return;
    };
    let output: Value = serde_json::from_slice(&output).expect("an answer is JSON");
    let is_known = state.starts_with("{\"mcp-servlet/calls\":");
    let has_answer = output.get("result").is_some() != output.get("error").is_some();
    assert!(has_answer || is_known, "{output}");
}
