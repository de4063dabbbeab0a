//! The memory that this host takes for what a servlet sends in addition to its output.

mod support;

use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::block_on;
use peak_alloc::PeakAlloc;
use serde_json::json;
use support::tools;

/// Counts the memory of this program, in which there is one test. Memories of servlets do not count: they are mapped.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The maximum memory of a call in bytes.
const MAX_CALL_MEMORY: usize = 4 << 20;

/// The functions that get a message of the servlet.
const IMPORTS: &str = r#"
    (import "extism:host/env" "log_error" (func $log (param i64)))
    (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
    (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
    (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
    (import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))
    (import "extism:host/user" "notify_logging_message" (func $message (param i64)))
    (import "extism:host/user" "notify_resource_updated" (func $updated (param i64)))
    (import "extism:host/user" "create_message" (func $create (param i64) (result i64)))"#;

/// What a servlet does with a message of 250 MB.
const ATTACKS: [&str; 12] = [
    "(call $error_set (global.get $large)) (return (i32.const 1))",
    "(call $error_set (global.get $large)) unreachable",
    "(call $log (global.get $large))",
    "(drop (call $config (global.get $large)))",
    "(drop (call $var_get (global.get $large)))",
    "(call $var_set (global.get $large) (i64.const 0))",
    "(call $var_set (i64.const 0) (global.get $large))",
    "(drop (call $http (global.get $large) (i64.const 0)))",
    "(drop (call $http (call $block (i32.const 50000) (i32.const 29)) (global.get $large)))",
    "(call $message (global.get $large))",
    "(call $updated (global.get $large))",
    "(drop (call $create (global.get $large)))",
];

fn servlet(attack: &str) -> Servlet {
    let large = "(global.set $large (call $alloc (i64.const 250000000)))";
    let wat = tools(&[(1, &format!("{large} {attack}"))]);
    let wat = wat.import(IMPORTS);
    let wat = wat.after(
        r#"(global $large (mut i64) (i64.const 0))
        (data (i32.const 50000) "{\22url\22:\22http://api.example/\22}")"#,
    );
    wat.load().expect("a servlet")
}

#[test]
fn what_a_servlet_sends_does_not_fill_the_memory_of_the_host() {
    let log = tracing_subscriber::fmt().with_writer(std::io::sink);
    let _log = tracing::subscriber::set_default(log.finish());
    let arguments = serde_json::from_value(json!({ "do": 1 })).expect("an object");
    for attack in ATTACKS {
        let servlet = servlet(attack);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        if let Err(error) = block_on(servlet.call("t", Some(&arguments))) {
            let fault = error.to_rpc_error();
            drop(json!({ "code": fault.code, "message": fault.message }).to_string());
        }
        let taken = MEMORY.peak_usage() - before;
        assert!(taken < MAX_CALL_MEMORY, "{attack}: {taken} bytes");
    }
}
