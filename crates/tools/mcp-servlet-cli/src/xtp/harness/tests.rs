//! A minimal plugin, mock host and test module.

use super::*;

/// Counts its calls in memory, and gets the answer from the host.
const PLUGIN: &str = r#"(module
    (import "extism:host/env" "output_set" (func $output (param i64 i64)))
    (import "extism:host/env" "length" (func $length (param i64) (result i64)))
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/user" "answer" (func $answer (param i64) (result i64)))
    (memory (export "memory") 1)
    (global $calls (mut i32) (i32.const 48))
    (func (export "count") (result i32) (local $at i64)
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (local.set $at (call $alloc (i64.const 1)))
        (call $store (local.get $at) (global.get $calls))
        (call $output (local.get $at) (i64.const 1))
        (i32.const 0))
    (func (export "ask") (result i32) (local $at i64)
        (local.set $at (call $answer (i64.const 0)))
        (call $output (local.get $at) (call $length (local.get $at)))
        (i32.const 0)))"#;

/// Answers with `!`.
const MOCK: &str = r#"(module
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output (param i64 i64)))
    (memory (export "memory") 1)
    (func (export "answer") (result i32) (local $at i64)
        (local.set $at (call $alloc (i64.const 1)))
        (call $store (local.get $at) (i32.const 33))
        (call $output (local.get $at) (i64.const 1))
        (i32.const 0)))"#;

/// A test module whose export runs `body`; `$text` allocates a block with a constant from memory.
fn module(data: &str, body: &str) -> Source {
    let text = format!(
        r#"(module
        (import "xtp:test/harness" "call" (func $call (param i64 i64) (result i64)))
        (import "xtp:test/harness" "time" (func $time (param i64 i64) (result i64)))
        (import "xtp:test/harness" "assert" (func $assert (param i64 i64 i64)))
        (import "xtp:test/harness" "reset" (func $reset))
        (import "xtp:test/harness" "group" (func $group (param i64)))
        (import "xtp:test/harness" "mock_input" (func $mock_input (result i64)))
        (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
        (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
        (memory (export "memory") 1)
        (data (i32.const 0) "{data}")
        (func $text (param $from i32) (param $length i32) (result i64) (local $to i64) (local $i i32)
            (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
            (block $done (loop $next
                (br_if $done (i32.ge_u (local.get $i) (local.get $length)))
                (call $store (i64.add (local.get $to) (i64.extend_i32_u (local.get $i)))
                    (i32.load8_u (i32.add (local.get $from) (local.get $i))))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br $next)))
            (local.get $to))
        (func (export "test") (result i32) {body} (i32.const 0)))"#
    );
    source("tests", &text)
}

fn source(name: &str, text: &str) -> Source {
    Source::Bytes {
        name: name.to_owned(),
        wasm: wat::parse_str(text).expect("valid WebAssembly text"),
    }
}

fn run(data: &str, body: &str, mock_input: Option<&str>) -> Report {
    let harness = Harness {
        plugin: source("plugin", PLUGIN),
        with: module(data, body),
        mock_host: Some(source("mock", MOCK)),
        mock_input: mock_input.map(|text| text.as_bytes().to_vec()),
        options: LoadOptions::default(),
    };
    harness.run().expect("all modules load")
}

/// The reasons of all assertions, in order. A reason is the text that the plugin returned.
fn reasons(report: &Report) -> Vec<&str> {
    report.assertions().map(|one| one.reason.as_str()).collect()
}

#[test]
fn calls_reach_the_plugin_and_its_host() {
    let call = |name: &str| {
        format!("(call $assert {name} (i64.const 1) (call $call {name} (i64.const 0)))")
    };
    let count = call("(call $text (i32.const 0) (i32.const 5))");
    let ask = call("(call $text (i32.const 5) (i32.const 3))");
    let report = run(
        "countask",
        &format!("{count}{count}(call $reset){count}{ask}"),
        None,
    );
    assert_eq!(report.stopped, None);
    assert_eq!(reasons(&report), ["1", "2", "1", "!"]);
    assert!(report.is_success());
    assert_eq!(report.groups.len(), 1);
    assert_eq!(report.groups[0].name, None);
}

#[test]
fn assertions_belong_to_the_group_before_them() {
    let name = "(call $text (i32.const 0) (i32.const 5))";
    let body = format!(
        "(call $group {name})
         (call $assert {name}
            (i64.extend_i32_u (i64.gt_s (call $time {name} (i64.const 0)) (i64.const 0)))
            (i64.const 0))
         (call $group {name})
         (call $assert {name} (i64.const 0) (call $mock_input))"
    );
    let report = run("count", &body, Some("made up"));
    assert_eq!(report.stopped, None);
    let passed: Vec<_> = report.assertions().map(|one| one.passed).collect();
    assert_eq!(passed, [true, false]);
    assert_eq!(reasons(&report), ["", "made up"]);
    assert_eq!(report.groups.len(), 2);
    assert!(!report.is_success());
}

#[test]
fn an_export_that_fails_stops_the_tests() {
    let body = "(drop (call $call (call $text (i32.const 0) (i32.const 4)) (i64.const 0)))";
    let report = run("nope", body, None);
    let stopped = report.stopped.as_deref().expect("there is no such export");
    assert!(stopped.starts_with("`nope` failed: "), "{stopped}");
    assert!(!report.is_success());
}
