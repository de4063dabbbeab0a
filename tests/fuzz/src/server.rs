//! The server for the requests, with one servlet.

use std::io::Write as _;
use std::sync::LazyLock;

use mcp_servlet_host::{Host, Servlet};
use mcp_servlet_runtime::LoadOptions;
use mcp_servlet_server::{HttpOptions, Plan, Service};
use tokio::runtime::{Builder, Runtime};

/// Describes one tool, `t`, and answers every call with a text.
const SERVLET: &str = r#"(module
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (memory 1)
  (data (i32.const 0) "{\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}]}")
  (data (i32.const 128) "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}")
  (func $give (param $from i32) (param $length i32) (result i32)
    (local $to i64) (local $at i32)
    (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
    (loop $next
      (call $store
        (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $length))))
    (call $output (local.get $to) (i64.extend_i32_u (local.get $length)))
    (i32.const 0))
  (func (export "describe") (result i32) (call $give (i32.const 0) (i32.const 74)))
  (func (export "call") (result i32) (call $give (i32.const 128) (i32.const 44))))"#;

/// One thread, so that a panic in a task is known before the next input.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    #[cfg(unix)]
    ignore_broken_pipes(&runtime);
    runtime
});

/// Rust's `main` ignores SIGPIPE, but this program has libFuzzer's. A server that writes to a closed connection would end the
/// program without a message.
#[cfg(unix)]
fn ignore_broken_pipes(runtime: &Runtime) {
    use tokio::signal::unix::{SignalKind, signal};
    let _runtime = runtime.enter();
    let _signals = signal(SignalKind::pipe()).expect("a handler");
}

pub(crate) static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    let wasm = wat::parse_str(SERVLET).expect("WebAssembly");
    let mut file = tempfile::NamedTempFile::with_suffix(".wasm").expect("a file");
    file.write_all(&wasm).expect("a file");
    let servlet = Servlet::load(file.path(), &LoadOptions::default()).expect("a servlet");
    let host = Host::new(vec![servlet]);
    let mut plan = Plan::from_host(host);
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    let service = RUNTIME.block_on(Service::start(plan));
    service.expect("a free port")
});
