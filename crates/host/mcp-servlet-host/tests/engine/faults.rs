//! Calls that fail: the error says how, and the next call works.

use std::time::Duration;

use mcp_servlet_call::{CallError, CallErrorKind, Limit, Limits, chain};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{CompileCache, Instances, LoadOptions, block_on};
use serde_json::json;

use crate::{COUNT, SPIN, assert_works, call, support::Wat, tools};

/// Calls the tool with an action that fails, then with one that works.
fn fault(servlet: &Servlet) -> CallError {
    let error = call(servlet, 1).expect_err("a fault");
    assert_works(servlet);
    error
}

fn fault_of(body: &str, options: &LoadOptions) -> CallError {
    fault(&tools(&[(1, body)]).load_with(options).expect("a servlet"))
}

fn default_fault(body: &str) -> CallError {
    fault_of(body, &LoadOptions::default())
}

#[test]
fn an_infinite_loop_ends_at_its_deadline() {
    let timeout = Limit::At(Duration::from_millis(50));
    let mut options = LoadOptions::default();
    options.limits.timeout = timeout;
    let error = fault_of(SPIN, &options);
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
}

#[test]
fn many_infinite_loops_at_once_end_at_their_deadlines_and_others_answer() {
    let timeout = Limit::At(Duration::from_millis(100));
    let mut options = LoadOptions::default();
    options.limits.timeout = timeout;
    let looping = tools(&[(1, SPIN)]).load_with(&options).expect("a servlet");
    let other = tools(&[]).load().expect("a servlet");
    std::thread::scope(|threads| {
        let loops: Vec<_> = (0..6)
            .map(|_| threads.spawn(|| call(&looping, 1)))
            .collect();
        for _ in 0..10 {
            assert_works(&other);
        }
        for end in loops {
            let end = end.join().expect("no panic");
            assert!(
                matches!(
                    end,
                    Err(CallError {
                        kind: CallErrorKind::Timeout { .. },
                        ..
                    })
                ),
                "{end:?}"
            );
        }
    });
    assert_works(&looping);
}

#[test]
fn a_memory_bomb_hits_the_limit() {
    let memory = Limit::At(4 << 20);
    let mut options = LoadOptions::default();
    options.limits.memory = memory;
    let grow = "(loop $l (drop (memory.grow (i32.const 16))) (br $l))";
    let error = fault_of(grow, &options);
    assert!(
        matches!(
            error.kind,
            CallErrorKind::OutOfMemory {
                limit: 4_194_304,
                ..
            }
        ),
        "{error:?}"
    );
    // Memory on the host's side counts, too.
    let messages = "(loop $l (drop (call $alloc (i64.const 65536))) (br $l))";
    let error = fault_of(messages, &options);
    assert!(
        matches!(error.kind, CallErrorKind::OutOfMemory { .. }),
        "{error:?}"
    );
}

#[test]
fn an_error_message_does_not_hide_the_limit() {
    let grow = "(call $error_set (call $block (i32.const 0) (i32.const 4)))
        (loop $l (drop (memory.grow (i32.const 16))) (br $l))";
    let error = default_fault(grow);
    assert!(
        matches!(error.kind, CallErrorKind::OutOfMemory { .. }),
        "{error:?}"
    );
}

#[test]
fn a_request_that_does_not_fit_into_memory_is_refused() {
    let memory = Limit::At(1 << 20);
    let mut options = LoadOptions::default();
    options.limits.memory = memory;
    let servlet = tools(&[]).load_with(&options);
    let servlet = servlet.expect("a servlet");
    let huge = json!({ "text": "x".repeat(2 << 20), "do": 0 });
    let error = block_on(servlet.call("t", huge.as_object())).expect_err("too large");
    assert!(
        matches!(error.kind, CallErrorKind::OutOfMemory { .. }),
        "{error:?}"
    );
    assert_works(&servlet);
}

#[test]
fn huge_output_is_refused() {
    let output = Limit::At(1000);
    let mut options = LoadOptions::default();
    options.limits.output = output;
    let body =
        "(call $output_set (call $alloc (i64.const 1001)) (i64.const 1001)) (return (i32.const 0))";
    let error = fault_of(body, &options);
    assert!(
        matches!(
            error.kind,
            CallErrorKind::OutputTooLarge {
                size: 1001,
                limit: 1000,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn output_out_of_bounds_is_an_error() {
    let body =
        "(call $output_set (i64.const 0x7fffffff00000000) (i64.const 1000)) (return (i32.const 0))";
    let error = default_fault(body);
    assert!(
        matches!(
            error.kind,
            CallErrorKind::Fault { .. }
                | CallErrorKind::Trap { .. }
                | CallErrorKind::BadOutput { .. }
        ),
        "{error:?}"
    );
}

#[test]
fn output_error_has_the_offset_of_invalid_utf_8() {
    let body = "(i32.store8 (i32.const 60000) (i32.const 0xff))
        (call $output (i32.const 60000) (i32.const 1)) (return (i32.const 0))";
    let error = default_fault(body);
    assert!(
        matches!(error.kind, CallErrorKind::BadOutput { .. }),
        "{error:?}"
    );
}

#[test]
fn output_that_nests_too_deeply_is_refused() {
    // 2,000 opening brackets.
    let body = "(memory.fill (i32.const 60000) (i32.const 91) (i32.const 2000))
        (call $output (i32.const 60000) (i32.const 2000)) (return (i32.const 0))";
    let error = default_fault(body);
    assert!(error.to_string().contains("recursion limit"), "{error}");
}

#[test]
fn deep_recursion_exhausts_the_stack_of_the_servlet_alone() {
    let wat =
        tools(&[(1, "(call $deeper)")]).import("(func $deeper (call $deeper) (call $deeper))");
    let error = fault(&wat.load().expect("a servlet"));
    assert!(
        error.to_string().contains("call stack exhausted"),
        "{error}"
    );
}

#[test]
fn distinguishes_traps_from_panics() {
    let error = default_fault("unreachable");
    assert!(
        matches!(error.kind, CallErrorKind::Trap { .. }),
        "{error:?}"
    );
    let panic = "(memory.fill (i32.const 60000) (i32.const 33) (i32.const 3))
        (call $error (i32.const 60000) (i32.const 3)) unreachable";
    let error = default_fault(panic);
    let CallErrorKind::Panic { message, .. } = &error.kind else {
        panic!("{error:?}")
    };
    assert_eq!(message, "!!!");
}

#[test]
fn invalid_arguments_of_host_functions_fail_the_call() {
    let imports = r#"(import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
        (import "extism:host/env" "var_get" (func $var (param i64) (result i64)))
        (import "extism:host/env" "log_info" (func $log (param i64)))
        (import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;
    let wild = "(i64.const 0x123456789abcdef)";
    for body in [
        format!("(drop (call $config {wild}))"),
        format!("(drop (call $var {wild}))"),
        format!("(call $log {wild})"),
        format!("(drop (call $http {wild} {wild}))"),
        "(drop (call $http (i64.const 0) (i64.const 0)))".to_owned(),
        format!("(call $error_set {wild}) (return (i32.const 1))"),
        format!("(drop (call $load {wild}))"),
    ] {
        let wat = tools(&[(1, &body)]).import(imports);
        let servlet = wat.load().expect("a servlet");
        // Some of these are errors and some read as zero. None of them may affect the next call.
        let _ = call(&servlet, 1);
        assert_works(&servlet);
    }
}

#[test]
fn json_for_host_functions_is_bounded() {
    let imports = r#"(import "extism:host/user" "create_message" (func $create (param i64) (result i64)))
        (import "extism:host/user" "notify_progress" (func $notify (param i64)))
        (import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))"#;
    // 200,000 commas.
    let commas = "(local.set $what (i32.const 200000))
        (loop $l
            (local.set $what (i32.sub (local.get $what) (i32.const 1)))
            (call $store (i64.add (global.get $at) (i64.extend_i32_u (local.get $what))) (i32.const 44))
            (br_if $l (local.get $what)))";
    let alloc = |length| format!("(global.set $at (call $alloc (i64.const {length})))");
    let at = "(global.get $at)";
    for (body, expected) in [
        (
            format!("{} (drop (call $create {at}))", alloc(9_000_000)),
            "`create_message`: expected at most 8388608 bytes of JSON, found 9000000",
        ),
        (
            format!("{} {commas} (drop (call $create {at}))", alloc(200_000)),
            "`create_message`: expected at most 100000 values of JSON, found 200001",
        ),
        (
            format!("{} (call $notify {at})", alloc(65_537)),
            "`notify_progress`: expected at most 65536 bytes of JSON, found 65537",
        ),
        (
            format!("{} (drop (call $http {at} (i64.const 0)))", alloc(65_537)),
            "invalid HTTP request: expected at most 65536 bytes of JSON, found 65537",
        ),
    ] {
        let wat = tools(&[(1, &body)]).import(imports);
        let wat = wat.after("(global $at (mut i64) (i64.const 0))");
        let error = fault(&wat.load().expect("a servlet"));
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn variables_are_bounded() {
    let import = r#"(import "extism:host/env" "var_set" (func $var (param i64 i64)))"#;
    let body =
        "(call $var (call $block (i32.const 0) (i32.const 1)) (call $alloc (i64.const 4000)))";
    let load = |vars| {
        let mut options = LoadOptions::default();
        options.vars = vars;
        tools(&[(1, body)])
            .import(import)
            .load_with(&options)
            .expect("a servlet")
    };
    let error = fault(&load(1000));
    assert!(
        error.to_string().contains("Variable store is full"),
        "{error}"
    );
    let error = fault(&load(0));
    assert!(error.to_string().contains("disabled"), "{error}");
    call(&load(10_000), 1).expect("room enough");
}

#[test]
fn limits_and_reports_a_slow_start() {
    let loops = "(func $spin (loop $l (br $l)))";
    for start in [
        "(start $spin)",
        r#"(export "_initialize" (func $spin))"#,
        r#"(export "__wasm_call_ctors" (func $spin))"#,
        // A few instructions that take long.
        r#"(func (export "_initialize") (drop (memory.grow (i32.const 400)))
            (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 20000000)) (br $l)))"#,
    ] {
        let wat = tools(&[]).import(loops).after(start);
        let error = wat
            .load_with(&in_a_second())
            .expect_err("it does not start");
        assert_eq!(
            error.to_string(),
            "`test` does not start: the code that it runs before the first call took longer than 1s"
        );
    }
}

/// A call may run for a second. Compilation may take longer.
fn in_a_second() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_secs(1));
    options
}

#[test]
fn a_host_function_waits_no_longer_than_the_call_limit() {
    let starts = sleeper().after(&format!(r#"(func (export "_initialize") {SLEEP})"#));
    let describes = Wat::new().import(POLL).answer("{}").export(
        "describe",
        "",
        &format!("{SLEEP} (i32.const 0)"),
    );
    for wat in [starts, describes] {
        let error = wat.load_with(&in_a_second()).expect_err("it sleeps");
        assert!(chain(&error).contains("1s"), "{error:?}");
    }
    let servlet = sleeper().load_with(&in_a_second()).expect("a servlet");
    let error = fault(&servlet);
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
}

#[test]
fn start_function_has_limits() {
    // Loops if it gets 512 MiB.
    let greedy = r#"(func (export "_initialize")
        (if (i32.ge_s (memory.grow (i32.const 8192)) (i32.const 0)) (then (loop $l (br $l)))))"#;
    let load = |memory| {
        let mut options = in_a_second();
        options.limits.memory = Limit::At(memory);
        tools(&[]).after(greedy).load_with(&options)
    };
    let error = load(10 << 20).expect_err("too much");
    assert!(error.to_string().contains("memory"), "{error}");
    let error = load(1 << 30).expect_err("it loops");
    assert!(error.to_string().contains("took longer"), "{error}");
}

#[test]
fn a_modest_start_is_over_before_a_call_begins() {
    let start = r#"(func (export "_initialize")
        (drop (memory.grow (i32.const 16))) (global.set $calls (i32.const 100)))"#;
    let wat = tools(&[(1, COUNT), (2, "(drop (memory.grow (i32.const 8192)))")]).after(start);
    let mut options = LoadOptions::default();
    options.limits.memory = Limit::At(10 << 20);
    let servlet = wat.load_with(&options).expect("a servlet");
    let count = || call(&servlet, 1).expect_err("a count").to_string();
    assert!(count().ends_with(" 101"));
    let error = call(&servlet, 2).expect_err("too much");
    assert!(
        matches!(error.kind, CallErrorKind::OutOfMemory { .. }),
        "{error:?}"
    );
    assert!(count().ends_with(" 101"), "it has a new instance");
}

pub(crate) const POLL: &str = r#"(import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll (param i32 i32 i32 i32) (result i32)))"#;

/// Sleeps for an hour in a host function. The subscription contains user data, tag 0 for the clock,
/// clock 1, and 3,600 seconds.
pub(crate) const SLEEP: &str = "(i64.store (i32.const 60000) (i64.const 7))
        (i32.store8 (i32.const 60008) (i32.const 0))
        (i32.store (i32.const 60016) (i32.const 1))
        (i64.store (i32.const 60024) (i64.const 3600000000000))
        (i64.store (i32.const 60032) (i64.const 0))
        (i32.store16 (i32.const 60040) (i32.const 0))
        (drop (call $poll (i32.const 60000) (i32.const 61000) (i32.const 1) (i32.const 62000)))";

pub(crate) fn sleeper() -> Wat {
    tools(&[(1, SLEEP)]).import(POLL)
}

#[test]
fn sleeping_call_does_not_block_others() {
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_millis(500));
    options.instances = Instances::ONE.into();
    let error = fault(&sleeper().load_with(&options).expect("a servlet"));
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
}

#[test]
fn an_instance_that_ended_itself_is_replaced() {
    let import = r#"(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"#;
    let wat = tools(&[(1, COUNT), (2, "(call $exit (i32.const 0))")]).import(import);
    let servlet = wat.load().expect("a servlet");
    let error = call(&servlet, 2).expect_err("there is no output");
    assert!(
        matches!(error.kind, CallErrorKind::BadOutput { .. }),
        "{error:?}"
    );
    let count = call(&servlet, 1).expect_err("a count").to_string();
    assert!(count.ends_with(" 1"), "{count}");
}

#[test]
fn instances_do_not_need_the_cache_after_the_servlet_was_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = folder.path().join("cache");
    let mut bound = Limits::default();
    bound.memory = Limit::At(1 << 20);
    let mut options = LoadOptions::default();
    options.cache = CompileCache::Directory(directory.clone());
    options.tools = [("t".to_owned(), bound)].into();
    let servlet = tools(&[]).load_with(&options).expect("a servlet");
    std::fs::remove_dir_all(&directory).expect("it is there");
    assert_works(&servlet);
}
