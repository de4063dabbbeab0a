//! The state of a tool with steps between two requests.
//!
//! The first line is what a client sends, the rest is what the host reads after the server has opened it.

use std::fs;
use std::sync::LazyLock;

use mcp_servlet_call::{JsonObject, RequestMeta};
use mcp_servlet_config::Config;
use mcp_servlet_server::{HttpOptions, Plan, Service};
use serde_json::{Value, json};

use crate::calls::OUTPUT;
use crate::line::answers;
use crate::server::RUNTIME;

/// Has a tool `t` that returns `RESULT`.
const SERVLET: &str = r#"(module
    (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
    (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
    (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
    (memory 1)
    OUTPUT
    (data (i32.const 0) "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}}]}")
    (data (i32.const 100) "RESULT")
    (func (export "describe") (result i32) (call $output (i32.const 0) (i32.const 41)))
    (func (export "call") (result i32) (call $output (i32.const 100) (i32.const LENGTH))))"#;

/// A tool with every kind of step.
const CONFIG: &str = r#"[servlet.asks]
source = "asks.wasm"
tools = { except = ["*"] }
[servlet.says]
source = "says.wasm"
tools = { except = ["*"] }
[bundle.b.tool.run]
result = { content = [], structuredContent = { first = "${{ steps.first.content }}", all = "${{ steps.all.map(one, one.content) }}", may = "${{ steps.may.?error }}", skipped = "${{ steps.?skipped.content }}" } }
step.first = { handler = "says:t" }
step.ask = { handler = "asks:t", after = ["first"] }
step.may = { handler = "asks:t", may_fail = true }
step.all = { handler = "says:t", each = "${{ [1, 2, 3] }}", after = ["ask"] }
step.skipped = { handler = "says:t", when = "${{ size(steps.first.content) > 1 }}" }
"#;

struct Fixture {
    service: Service,
    /// The digest of the tool that belongs in the state.
    digest: Value,
}

/// The text of a servlet that answers with this.
fn servlet(result: &Value) -> Vec<u8> {
    let result = result.to_string();
    let wat = SERVLET
        .replace("OUTPUT", OUTPUT)
        .replace("LENGTH", &result.len().to_string())
        .replace("RESULT", &result.replace('"', "\\\""));
    wat::parse_str(wat).expect("valid WebAssembly text")
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let question = json!({ "method": "roots/list" });
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "own" });
    let says = json!({ "content": [{ "type": "text", "text": "a" }] });
    for (name, result) in [("asks.wasm", asks), ("says.wasm", says)] {
        fs::write(folder.path().join(name), servlet(&result)).expect("a file");
    }
    let path = folder.path().join("servlet.toml");
    fs::write(&path, CONFIG).expect("a file");
    let mut plan = Plan::from_config(Config::read(&path).expect("a configuration"));
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    let service = RUNTIME.block_on(Service::start(plan));
    let service = service.expect("a free port");
    let asked = call(&service, None).expect("a question");
    let state: Value = serde_json::from_str(state_of(&asked).expect("a state")).expect("JSON");
    let digest = state["tool"].clone();
    assert!(digest.is_number(), "{state}");
    Fixture { service, digest }
});

fn state_of(result: &JsonObject) -> Option<&str> {
    result.get("requestState")?.as_str()
}

/// The result of the tool, or the code and the message of its error.
fn call(service: &Service, state: Option<String>) -> Result<JsonObject, (i64, String)> {
    let mut request_meta = RequestMeta::default();
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "roots": {} } });
    request_meta.meta = meta.as_object().cloned();
    request_meta.input_responses = json!({ "ask.q": { "roots": [] } }).as_object().cloned();
    request_meta.request_state = state;
    let host = service.server().host();
    let result = RUNTIME.block_on(host.call_with("run", None, &request_meta));
    let result = result.map_err(|error| {
        let error = error.to_rpc_error();
        (error.code.into(), error.message)
    });
    Ok(result?.into_json())
}

pub(crate) fn run(bytes: &[u8]) {
    let Fixture { service, digest } = &*FIXTURE;
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (sealed, state) = bytes.split_at(end.unwrap_or(bytes.len()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
    });
    let sealed = String::from_utf8_lossy(sealed);
    let params = json!({ "name": "run", "arguments": {}, "requestState": sealed, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answers = answers(service.server(), format!("{request}\n").as_bytes());
    // No input has the key of this process.
    assert_eq!(answers[0]["error"]["code"], -32602, "{answers:?}");

    let mut state: Value = serde_json::from_slice(state).unwrap_or_default();
    if let Some(state) = state.as_object_mut() {
        state.insert("tool".to_owned(), digest.clone());
    }
    if let Ok(result) = call(service, Some(state.to_string()))
        && let Some(next) = state_of(&result)
    {
        // The host reads what it has written.
        let again = call(service, Some(next.to_owned()));
        let code = again.as_ref().err().map(|(code, _)| *code);
        assert_ne!(code, Some(-32602), "{again:?}: {next}");
    }
}
