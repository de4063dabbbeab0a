//! Calls, and all the ways in which a call can end.

mod support;

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::Duration,
};

use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, Limit, RpcError};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{LoadOptions, block_on};
use serde_json::json;
use support::{DESCRIPTION, Wat};

fn servlet(text: &str, body: &str) -> Servlet {
    Wat::new()
        .describe(DESCRIPTION)
        .export("call", text, body)
        .load()
        .expect("a servlet")
}

fn fail(servlet: &Servlet) -> CallError {
    block_on(servlet.call("t", None)).expect_err("no result")
}

#[test]
fn answers_with_the_content_of_the_servlet() {
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer(r#"{"content":[{"type":"text","text":"hi"}]}"#);
    let result = block_on(servlet.load().expect("a servlet").call("t", None)).expect("a result");
    let content = json!([{"type": "text", "text": "hi"}]);
    assert_eq!(result.json()["content"], content);
    assert_eq!(result.text(), "hi");
    assert!(!result.is_error());
}

#[test]
fn sends_name_and_arguments_and_leaves_absent_arguments_away() {
    // Returns its input as an error message.
    let echo = "(local $to i64) (local $i i64)
        (local.set $to (call $alloc (call $input_length)))
        (block $done (loop $next
            (br_if $done (i64.ge_u (local.get $i) (call $input_length)))
            (call $store (i64.add (local.get $to) (local.get $i)) (call $input (local.get $i)))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br $next)))
        (call $error_set (local.get $to))
        (i32.const 1)";
    let servlet = servlet("", echo);
    assert_eq!(fail(&servlet).to_string(), r#"{"params":{"name":"t"}}"#);
    let arguments = json!({"z": 0.1, "a": u64::MAX});
    let arguments: &JsonObject = arguments.as_object().expect("an object");
    let error = block_on(servlet.call("t", Some(arguments))).expect_err("an echo");
    assert_eq!(
        error.to_string(),
        r#"{"params":{"name":"t","arguments":{"z":0.1,"a":18446744073709551615}}}"#
    );
}

#[test]
fn knows_unknown_tools_without_asking_the_servlet() {
    let servlet = servlet("", "unreachable");
    let error = block_on(servlet.call("T", None)).expect_err("unknown");
    assert_eq!(error.to_string(), "unknown tool `T`");
    assert_eq!(error.help().as_deref(), Some("there is a tool `t`"));
    assert_eq!(error.to_rpc_error().code, RpcError::INVALID_PARAMS);
}

#[test]
fn plain_error_text_is_an_internal_error() {
    let error = fail(&servlet("disk full", "(call $error {}) (i32.const -1)"));
    let fault = error.to_rpc_error();
    assert_eq!(
        (fault.code, fault.message.as_str()),
        (RpcError::INTERNAL, "disk full")
    );
    assert_eq!(
        fault.data,
        Some(json!({"servlet": "test", "export": "call"}))
    );
}

#[test]
fn reads_code_and_data_of_a_fault() {
    let text = "no such page\nmcp-fault: {\"code\":-32602,\"data\":[7]}";
    let fault = fail(&servlet(text, "(call $error {}) (i32.const 1)")).to_rpc_error();
    assert_eq!(
        (fault.code, fault.message.as_str()),
        (-32602, "no such page")
    );
    assert_eq!(fault.data, Some(json!([7])));
}

#[test]
fn an_error_text_that_reads_like_a_timeout_is_still_an_error_text() {
    let error = fail(&servlet("timeout", "(call $error {}) (i32.const 1)"));
    assert!(
        matches!(error.kind, CallErrorKind::Fault { .. }),
        "{error:?}"
    );
}

#[test]
fn reports_a_return_code_without_a_text() {
    let error = fail(&servlet("", "(i32.const 3)"));
    assert_eq!(error.to_string(), "Returned non-zero exit code: 3");
}

#[test]
fn distinguishes_a_trap_from_an_error() {
    let error = fail(&servlet("", "unreachable"));
    let CallErrorKind::Trap { message, .. } = &error.kind else {
        panic!("{error:?}")
    };
    assert_eq!(
        message,
        "wasm trap: wasm `unreachable` instruction executed"
    );
    assert_eq!(error.to_rpc_error().code, RpcError::INTERNAL);
}

#[test]
fn distinguishes_a_panic_from_a_trap() {
    let error = fail(&servlet(
        "index out of bounds",
        "(call $error {}) unreachable",
    ));
    let CallErrorKind::Panic { message, .. } = &error.kind else {
        panic!("{error:?}")
    };
    assert_eq!(message, "index out of bounds");
}

#[test]
fn replaces_the_instance_after_a_trap_but_not_after_an_error() {
    // Counts its calls and returns the count, but traps in the second call.
    let body = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.eq (global.get $calls) (i32.const 2)) (then unreachable))
        (global.get $calls)";
    let servlet = servlet("", body);
    let ends: Vec<_> = (0..3).map(|_| fail(&servlet).to_string()).collect();
    assert_eq!(ends[0], "Returned non-zero exit code: 1");
    assert!(ends[1].contains("trapped"), "{}", ends[1]);
    assert_eq!(
        ends[2], "Returned non-zero exit code: 1",
        "the count begins anew"
    );
}

#[test]
fn stops_an_endless_loop_and_goes_on_with_a_fresh_instance() {
    let body = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.eq (global.get $calls) (i32.const 2)) (then (loop $l (br $l))))
        (global.get $calls)";
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_millis(50));
    let servlet = Wat::new().describe(DESCRIPTION).export("call", "", body);
    let servlet = servlet.load_with(&options).expect("a servlet");
    assert_eq!(fail(&servlet).to_string(), "Returned non-zero exit code: 1");
    let error = fail(&servlet);
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "servlet `test` did not finish `call` within 50ms"
    );
    assert_eq!(fail(&servlet).to_string(), "Returned non-zero exit code: 1");
}

#[test]
fn a_servlet_that_sets_a_text_and_then_loops_runs_out_of_time() {
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(Duration::from_millis(20));
    let servlet = Wat::new().describe(DESCRIPTION);
    let servlet = servlet.export(
        "call",
        "text",
        "(call $error {}) (loop $l (br $l)) (i32.const 0)",
    );
    let error = fail(&servlet.load_with(&options).expect("a servlet"));
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
}

#[test]
fn stops_a_servlet_that_grows_without_end() {
    let mut options = LoadOptions::default();
    options.limits.memory = Limit::At(4 * 1024 * 1024);
    let body = "(drop (memory.grow (i32.const 4096))) (i32.const 0)";
    let servlet = Wat::new().describe(DESCRIPTION).export("call", "", body);
    let error = fail(&servlet.load_with(&options).expect("a servlet"));
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
}

#[test]
fn reports_output_that_is_not_a_result() {
    for (output, at) in [
        ("", "line 1 column 0"),
        ("nonsense", "line 1 column 2"),
        ("{\"content\":1}", "/content"),
    ] {
        let servlet = Wat::new()
            .describe(DESCRIPTION)
            .answer(output)
            .load()
            .expect("a servlet");
        let error = fail(&servlet);
        let CallErrorKind::BadOutput { at: found, .. } = &error.kind else {
            panic!("{error:?}")
        };
        assert_eq!(found, at);
    }
}

/// Sends a request to `url` and returns the status as an error.
fn fetch(url: &str) -> Wat {
    let request = format!(r#"{{"url":"{url}"}}"#);
    let http = r#"(import "extism:host/env" "http_request"
            (func $http (param i64 i64) (result i64)))
        (import "extism:host/env" "http_status_code" (func $status (result i32)))"#;
    let body = "(drop (call $http (call $block {}) (i64.const 0))) (call $status)";
    Wat::new()
        .import(http)
        .describe(DESCRIPTION)
        .export("call", &request, body)
}

#[test]
fn denies_requests_to_hosts_that_are_not_allowed() {
    let error = fail(&fetch("http://localhost:9/x").load().expect("a servlet"));
    assert_eq!(
        error.to_string(),
        "servlet `test` may not send a request to `http://localhost:9`"
    );
}

/// A server that sends the answers one after the other, with `{port}` replaced by its port. Returns
/// the port.
fn server(answers: &'static [&'static str]) -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = server.accept().expect("a connection");
            let _ = stream.read(&mut [0; 1024]).expect("a request");
            let answer = answer.replace("{port}", &port.to_string());
            let answer =
                format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).expect("an answer");
        }
    });
    port
}

fn fetch_from(port: u16) -> CallError {
    let mut options = LoadOptions::default();
    options.allowed_hosts = vec!["127.0.0.1".into()];
    let servlet = fetch(&format!("http://127.0.0.1:{port}/")).load_with(&options);
    fail(&servlet.expect("a servlet"))
}

#[test]
fn sends_requests_to_hosts_that_are_allowed() {
    let error = fetch_from(server(&["204 No Content"]));
    assert_eq!(error.to_string(), "Returned non-zero exit code: 204");
}

#[test]
fn follows_redirects_to_hosts_that_are_allowed() {
    let error = fetch_from(server(&["302 Found\r\nLocation: /next", "201 Created"]));
    assert_eq!(error.to_string(), "Returned non-zero exit code: 201");
}

#[test]
fn does_not_follow_redirects_to_hosts_that_are_not_allowed() {
    let port = server(&[
        "302 Found\r\nLocation: http://localhost:{port}/",
        "201 Created",
    ]);
    assert_eq!(
        fetch_from(port).to_string(),
        format!("servlet `test` may not send a request to `http://localhost:{port}`")
    );
}
