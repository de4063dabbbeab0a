//! Logs of servlets, as a `tracing` subscriber gets them.

mod support;

use std::{
    io,
    sync::{Arc, Mutex},
};

use mcp_servlet_call::RpcError;
use mcp_servlet_host::Tool;
use mcp_servlet_runtime::{ErrorTexts, LoadOptions, block_on};
use serde_json::json;
use support::{DESCRIPTION, Wat};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log at `filter` while `act` runs.
fn logged(filter: &str, act: impl FnOnce()) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    tracing::subscriber::with_default(subscriber, act);
    String::from_utf8(lines.0.lock().expect("no panic").clone()).expect("text")
}

#[test]
fn log_lines_carry_the_name_of_their_servlet() {
    let log = |name: &str| {
        format!(r#"(import "extism:host/env" "log_{name}" (func ${name} (param i64)))"#)
    };
    let both = "(call $info (call $block {})) (call $debug (call $block {})) \
        (call $info (i64.const 0)) (i32.const 1)";
    let servlet = Wat::new()
        .import(&log("info"))
        .import(&log("debug"))
        .describe(DESCRIPTION);
    let servlet = servlet.export("call", "on my way", both);
    let text = logged("servlet=info", || {
        let servlet = servlet.load().expect("a servlet");
        block_on(servlet.call("t", None)).expect_err("a code");
    });
    let expected = " INFO servlet: on my way servlet=\"test\"\n INFO servlet:  servlet=\"test\"\n";
    assert_eq!(text, expected);
}

#[test]
fn a_tool_without_an_object_as_arguments_is_left_out() {
    let list =
        r#"{"tools":[{"name":"a","inputSchema":{"type":"array"}},{"name":"b","inputSchema":{}}]}"#;
    let text = logged("mcp_servlet_host=warn", || {
        let wat = Wat::new().describe(list).answer("{}");
        let servlet = wat.load().expect("a servlet");
        let names: Vec<_> = servlet.tools().iter().map(Tool::name).collect();
        assert_eq!(names, ["b"]);
    });
    let reason = r#"/inputSchema/type: expected "object", found "array""#;
    assert!(text.contains(reason), "{text}");
}

#[test]
fn a_servlet_that_logs_in_a_loop_does_not_fill_the_log() {
    let body = "(local $i i32)
        (loop $next
            (call $info (call $alloc (i64.const 1000000)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $next (i32.lt_u (local.get $i) (i32.const 200))))
        (i32.const 1)";
    let servlet = Wat::new()
        .import(r#"(import "extism:host/env" "log_info" (func $info (param i64)))"#)
        .describe(DESCRIPTION)
        .export("call", "", body);
    let text = logged("servlet=info", || {
        let servlet = servlet.load().expect("a servlet");
        block_on(servlet.call("t", None)).expect_err("a code");
    });
    // One long line each second.
    let lines = text
        .matches("… (934464 more bytes) servlet=\"test\"\n")
        .count();
    assert!((1..20).contains(&lines), "{lines}");
    assert!(text.len() <= (lines + 1) << 17, "{} bytes", text.len());
    let note = format!("{} bytes left out: the limit is", (200 - lines) * 1_000_000);
    assert!(
        lines > 1 || text.contains(&note),
        "{}",
        &text[text.len() - 200..]
    );
}

#[test]
fn a_single_tool_with_another_name_than_its_servlet_is_a_warning() {
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let log = |description: &str| {
        logged("mcp_servlet_host=warn", || {
            let servlet = Wat::new().describe(description).answer("{}").load();
            servlet.expect("a servlet");
        })
    };
    let warned = log(&tool("greet"));
    let expected = "the servlet `test` describes a single tool with another name, `greet`";
    assert!(warned.contains(expected), "{warned}");
    assert_eq!(log(&tool("test")), "");
    assert_eq!(log(&format!(r#"{{"tools":[{}]}}"#, tool("greet"))), "");
}

#[test]
fn texts_of_errors_can_be_kept_for_the_log() {
    let secret = "no such user: postgres://admin:hunter2@db";
    let mut options = LoadOptions::default();
    options.errors = ErrorTexts::Logged;
    for body in [
        "(call $error {}) (i32.const 1)",
        "(call $error {}) unreachable",
    ] {
        let servlet = Wat::new()
            .describe(DESCRIPTION)
            .export("call", secret, body);
        let log = logged("mcp_servlet_runtime=error", || {
            let servlet = servlet.load_with(&options).expect("a servlet");
            let fault = block_on(servlet.call("t", None))
                .expect_err("an error")
                .to_rpc_error();
            assert!(
                fault.message.contains("the log of the server says why"),
                "{fault:?}"
            );
            assert!(!fault.message.contains("hunter2"), "{fault:?}");
            assert_eq!(fault.code, RpcError::INTERNAL);
            let data = json!({ "servlet": "test", "export": "call" });
            assert_eq!(fault.data, Some(data));
        });
        assert!(
            log.contains(secret) && log.contains("servlet=\"test\""),
            "{log}"
        );
    }
    // A fault with a code is for clients.
    let fault = "gone\nmcp-fault: {\"code\":-32002}";
    let servlet = Wat::new().describe(DESCRIPTION);
    let servlet = servlet.export("call", fault, "(call $error {}) (i32.const 1)");
    let servlet = servlet.load_with(&options).expect("a servlet");
    assert_eq!(
        block_on(servlet.call("t", None))
            .expect_err("a fault")
            .to_string(),
        "gone"
    );
}
