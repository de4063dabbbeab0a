//! Clients of `servlet serve` with one servlet or one configuration, message by message.

use std::path::Path;
use std::process::Command;

use e2e::servlet_command;
use serde_json::{Value, json};
use wire::Process;

fn serve(servlet: &Path, options: &[&str]) -> Command {
    let mut command = servlet_command(["serve"]);
    command.arg(servlet).args(options).env("RUST_LOG", "off");
    command
}

/// A client up to 2025-11-25 with these capabilities.
pub(crate) fn legacy(servlet: &Path, capabilities: Value, options: &[&str]) -> Process {
    let process = Process::connect(serve(servlet, options));
    process.open(capabilities);
    process
}

/// A client since 2026-07-28.
pub(crate) fn modern(servlet: &Path, capabilities: Value) -> Process {
    Process::stateless(serve(servlet, &[]), capabilities)
}

/// Calls a tool. Returns the messages before the response, and the response.
pub(crate) fn call(client: &Process, params: Value) -> (Vec<Value>, Value) {
    client.converse("tools/call", params, |question| panic!("{question}"))
}

/// Calls a tool and returns its result.
pub(crate) fn result(client: &Process, params: Value) -> Value {
    let (_, response) = call(client, params);
    assert!(response["result"].is_object(), "{response}");
    response["result"].clone()
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

pub(crate) fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}
