//! The entry that `--print-client-config` prints starts a server that works.

#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use support::Wat;

/// A servlet that requires the configuration key `api-key` and returns its value as the result of its tool.
fn weather() -> Vec<u8> {
    let needs = json!({ "config": {
        "type": "object",
        "properties": { "api-key": { "type": "string", "writeOnly": true } },
        "required": ["api-key"],
    } });
    let needs = needs.to_string().replace('"', "\\\"");
    Wat::new()
        .import(
            r#"(import "extism:host/env" "config_get" (func $config (param i64) (result i64)))"#,
        )
        .import(r#"(import "extism:host/env" "length" (func $length (param i64) (result i64)))"#)
        .describe(support::DESCRIPTION)
        .export(
            "call",
            "api-key",
            "(local $value i64)
            (local.set $value (call $config (call $block {})))
            (call $output_set (local.get $value) (call $length (local.get $value)))
            (i32.const 0)",
        )
        .after(&format!("(@custom \"mcp-servlet:needs\" \"{needs}\")"))
        .wasm()
}

/// The entry of the servlet in the configuration that the command prints, and the notes on standard error.
fn printed(folder: &Path, options: &[&str]) -> (Value, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_servlet"))
        .args(["serve", "weather.wasm", "--print-client-config", "claude"])
        .args(options)
        .current_dir(folder)
        .output()
        .expect("the command runs");
    let notes = String::from_utf8(output.stderr).expect("text");
    let config: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (config["mcpServers"]["weather"].clone(), notes)
}

/// Starts the server of an entry as a client does, with this value for every placeholder, and calls its tool.
fn call(entry: &Value, value: &str) -> (Value, String) {
    let strings = |value: &Value| -> Vec<String> {
        let all = value.as_array().expect("a list").iter();
        all.map(|one| one.as_str().expect("a string").to_owned())
            .collect()
    };
    let env = entry["env"].as_object().expect("variables");
    let mut server = Command::new(entry["command"].as_str().expect("a command"))
        .args(strings(&entry["args"]))
        .envs(env.iter().map(|(name, placeholder)| {
            assert_eq!(*placeholder, format!("${{{name}}}"));
            (name, value)
        }))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let mut input = server.stdin.take().expect("a pipe");
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "t", "arguments": {} } }),
    ] {
        writeln!(input, "{message}").expect("the server reads");
    }
    let lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let mut messages = lines
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str(&line).ok());
    let answer = messages.find(|message: &Value| message["id"] == 2);
    drop(input);
    let output = server.wait_with_output().expect("the server ends");
    let errors = String::from_utf8(output.stderr).expect("text");
    (answer.unwrap_or_else(|| panic!("{errors}")), errors)
}

#[test]
fn an_entry_works_once_its_placeholders_are_filled_in() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("weather.wasm"), weather()).expect("a file");
    for (options, variable) in [
        (&[][..], "WEATHER_API_KEY"),
        (&["--config", "api-key=s3cr3t"][..], "WEATHER_API_KEY"),
        (&["--config-env", "api-key=MY_KEY"][..], "MY_KEY"),
    ] {
        let (entry, notes) = printed(folder.path(), options);
        let names: Vec<_> = entry["env"]
            .as_object()
            .expect("variables")
            .keys()
            .collect();
        assert_eq!(names, [variable]);
        assert!(
            notes.contains(variable) && !notes.contains("unmet"),
            "{notes}"
        );
        assert!(!entry.to_string().contains("s3cr3t"), "{entry}");
        let result = json!({ "content": [{ "type": "text", "text": "it arrived" }] });
        let (answer, errors) = call(&entry, &result.to_string());
        assert_eq!(answer["result"]["content"], result["content"], "{answer}");
        assert!(!errors.contains("unmet needs"), "{errors}");
    }
}
