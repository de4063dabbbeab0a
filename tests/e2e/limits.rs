//! A servlet that uses every feature of a host and misbehaves in every way.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use e2e::{fixture, servlet_command};
use mcp_servlet_call::{CallError, CallErrorKind, Limit};
use mcp_servlet_host::{CallToolResult, Servlet};
use mcp_servlet_runtime::{LoadOptions, block_on};
use serde_json::{Value, json};
use wire::Process;

use crate::support::{object, probe, text};

fn defaults() -> Servlet {
    probe(&LoadOptions::default())
}

fn call(servlet: &Servlet, tool: &str, arguments: &Value) -> CallToolResult {
    let result = block_on(servlet.call(tool, Some(object(arguments))));
    result.unwrap_or_else(|error| panic!("{tool}({arguments}): {error}"))
}

/// Calls a tool that the host must stop, and checks that the next call works.
fn stop(servlet: &Servlet, tool: &str, arguments: &Value) -> CallError {
    let error = block_on(servlet.call(tool, Some(object(arguments))));
    let after = call(servlet, "echo", &json!({ "text": "still here" }));
    assert_eq!(text(&after), "still here");
    error.expect_err(tool)
}

/// The line number of some code in the probe.
fn line_of(code: &str) -> usize {
    let source = include_str!("../fixtures/src/lib.rs");
    let before = source.split(code).next().expect("a part before");
    assert_ne!(before, source, "the probe says `{code}`");
    before.lines().count()
}

#[test]
fn panic_is_an_error_with_message_and_location() {
    let error = stop(&defaults(), "fall", &json!({ "why": "of rain" }));
    let CallErrorKind::Panic { message, .. } = error.kind else {
        panic!("a panic, not {error:?}");
    };
    let (line, file) = (line_of("panic!("), "tests/fixtures/src/lib.rs");
    assert_eq!(
        message,
        format!("panicked at {file}:{line}: fell because of rain")
    );
}

#[test]
fn index_out_of_bounds_is_an_error_with_its_location() {
    let servlet = defaults();
    let error = stop(&servlet, "overrun", &json!({ "at": 3 }));
    let message = error.to_string();
    let line = line_of("bytes[at]");
    assert!(
        message.contains(&format!("lib.rs:{line}: index out of bounds")),
        "{message}"
    );
}

#[test]
fn a_call_that_never_ends_is_stopped_at_its_deadline() {
    let limit = Duration::from_millis(200);
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(limit);
    let servlet = probe(&options);
    let error = stop(&servlet, "spin", &json!({}));
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { limit: stopped, .. } if stopped == limit),
        "{error:?}"
    );
}

#[test]
fn a_call_that_takes_too_much_memory_is_stopped() {
    let limit = 32 << 20;
    let mut options = LoadOptions::default();
    options.limits.memory = Limit::At(limit);
    let servlet = probe(&options);
    let error = stop(&servlet, "hoard", &json!({}));
    assert!(
        matches!(error.kind, CallErrorKind::OutOfMemory { limit: stopped, .. } if stopped == limit),
        "{error:?}"
    );
}

#[test]
fn variables_last_from_call_to_call() {
    let servlet = defaults();
    let count = || text(&call(&servlet, "count", &json!({}))).to_owned();
    assert_eq!([count(), count(), count()], ["1", "2", "3"]);
    call(&servlet, "forget", &json!({}));
    assert_eq!(count(), "1");
    stop(&servlet, "fall", &json!({ "why": "x" }));
    assert_eq!(count(), "2", "variables survive a panic");
}

#[test]
fn configuration_is_present_or_absent() {
    let mut options = LoadOptions::default();
    options.config = [("user".to_owned(), "Ada é\0🦀".to_owned())].into();
    let servlet = probe(&options);
    let set = call(&servlet, "config", &json!({ "key": "user" }));
    assert_eq!(text(&set), "Ada é\0🦀");
    for key in ["use", "users", ""] {
        let unset = call(&servlet, "config", &json!({ "key": key }));
        assert_eq!(unset.content().len(), 0, "{key:?}");
    }
}

#[test]
fn the_clock_is_that_of_the_host() {
    let millis = || {
        let since = SystemTime::UNIX_EPOCH.elapsed().expect("after 1970");
        since.as_millis()
    };
    let servlet = defaults();
    let before = millis();
    let now = call(&servlet, "now", &json!({}));
    let now: u128 = text(&now).parse().expect("milliseconds");
    assert!((before..=millis()).contains(&now), "{now}");
}

#[test]
fn randomness_is_as_long_as_asked_for_and_different_each_time() {
    let servlet = defaults();
    let draw = || {
        let result = call(&servlet, "random", &json!({ "length": 33 }));
        serde_json::from_str::<Vec<u8>>(text(&result)).expect("bytes")
    };
    let draws = [draw(), draw(), draw()];
    assert!(draws.iter().all(|bytes| bytes.len() == 33));
    assert_eq!(BTreeSet::from(draws).len(), 3);
}

#[test]
fn log_lines_reach_the_operator_at_their_level() {
    let levels = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
    for (wanted, shown) in [("error", 1), ("info", 3), ("trace", 5)] {
        let mut command = servlet_command(["call"]);
        command
            .arg(fixture("probe"))
            .args(["note", "text=on my way"]);
        command.env("RUST_LOG", format!("servlet={wanted}"));
        let output = command.output().expect("servlet runs");
        let lines = String::from_utf8(output.stderr).expect("text");
        let found: Vec<_> = lines.lines().map(str::trim).collect();
        let expected = levels[..shown]
            .iter()
            .map(|level| format!("{level} servlet: on my way servlet=\"probe\""));
        assert_eq!(found, expected.collect::<Vec<_>>());
        assert!(output.status.success());
    }
}

#[test]
fn log_lines_are_in_the_span_of_their_call() {
    let mut command = servlet_command(["serve"]);
    let filter = "servlet=info,mcp_servlet_server=info";
    command.arg(fixture("probe")).env("RUST_LOG", filter);
    let wire = Process::start(command);
    wire.end(wire.begin_call("note", &json!({ "text": "on my way" })));
    let line = wire.said_after(r#"INFO call{servlet="probe" tool="note" session=""#);
    assert!(
        line.ends_with("}: servlet: on my way servlet=\"probe\""),
        "{line}"
    );
    wire.says(r#" outcome="ok" milliseconds="#);
    wire.end(wire.begin_call("fall", &json!({ "why": "of rain" })));
    let line = wire.said_after(r#"WARN call{servlet="probe" tool="fall" session=""#);
    assert!(line.contains(r#" outcome="panic" milliseconds="#), "{line}");
    assert!(wire.finish().success());
}

#[test]
fn an_empty_log_line_is_allowed() {
    let result = call(&defaults(), "note", &json!({ "text": "" }));
    assert!(!result.is_error());
}
