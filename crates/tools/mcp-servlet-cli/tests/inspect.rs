//! `servlet inspect` of a directory: what a server would offer of all servlets together.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use support::Wat;

fn inspect(folder: &Path) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    let command = command
        .args(["inspect", ".", "--format", "json"])
        .current_dir(folder)
        .stdin(Stdio::null());
    let output = command.output().expect("the command runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn write(folder: &Path, name: &str, tools: &[&str], uris: &[&str]) {
    let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools: Vec<_> = tools.iter().map(tool).collect();
    let resource = |uri| json!({"uri": uri, "name": "r"});
    let resources: Vec<_> = uris.iter().map(resource).collect();
    let list = |json: Value| json.to_string();
    let wasm = Wat::new()
        .describe(&list(json!({ "tools": tools })))
        .answer("{}")
        .export(
            "list_resources",
            &list(json!({ "resources": resources })),
            "(call $output {}) (i32.const 0)",
        )
        .wasm();
    fs::write(folder.join(name), wasm).expect("a file");
}

#[test]
fn a_directory_shows_the_names_that_would_be_served_and_what_would_not() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.wasm", &["get", "put"], &["x:1"]);
    write(folder.path(), "b.wasm", &["get", "a_get"], &["x:1", "x:2"]);
    let [a, b] = &inspect(folder.path())[..] else {
        panic!("two servlets");
    };
    assert_eq!(a["tools"], json!(["a_get", "put"]));
    assert_eq!(a["problems"], json!([]));
    assert_eq!(b["tools"], json!(["b_get"]));
    assert_eq!(b["resources"], json!(["x:2"]));
    let problems = b["problems"].as_array().expect("problems").iter();
    let messages: Vec<_> = problems.map(|problem| problem["message"].clone()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    for (message, expected) in messages
        .iter()
        .zip(["tool `a_get` of ", "resource `x:1` of "])
    {
        let message = message.as_str().expect("text");
        assert!(message.starts_with(expected), "{message}");
        assert!(message.contains("a.wasm") && message.contains("b.wasm"));
    }
}
