//! Tests with `#[mcp_servlet::test]`, natively and against the wasm.

use std::fs;
use std::path::Path;
use std::process::Command;

use e2e::{root, servlet};
use serde_json::Value;

use crate::projects::{add_features, command, run, start, stdout};

/// The output of a command: cargo's lines about the tests, and standard error, with the number of clients.
fn outputs(command: &mut Command) -> (String, String) {
    let output = run(command);
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    (stdout(&output), messages)
}

/// The output of the project's test: one answer per line.
fn answers(printed: &str) -> Vec<&str> {
    let lines = printed.lines();
    lines.filter(|line| line.starts_with("answer: ")).collect()
}

#[test]
fn a_client_gets_the_same_answers_in_the_process_and_from_the_wasm() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "trip", &[]);
    let write = |path: &str, text: &str| fs::write(project.join(path), text).expect("a file");
    write("src/lib.rs", include_str!("both_ways/lib.rs"));
    write("tests/servlet.rs", include_str!("both_ways/tests.rs"));
    add_features(&project, &["http"]);
    let shown = ["--", "--nocapture", "--test-threads=1"];
    let (native, _) = outputs(command("cargo", &project).arg("test").args(shown));
    let wasm = command(servlet(), &project)
        .args(["test", ".", "--"])
        .args(shown)
        .output()
        .expect("the command starts");
    let wasm = stdout(&wasm);
    assert_eq!(answers(&native), answers(&wasm), "{native}\n{wasm}");
    assert_eq!(answers(&native).len(), 38, "{native}");
}

#[test]
fn the_tests_of_examples_hold_for_their_wasm() {
    for (name, clients) in [("kv-notes", 6), ("everything", 11)] {
        let example = root().join("examples").join(name);
        let print_json = |arguments: &[&str]| {
            let arguments = [arguments, &["--format", "json"]].concat();
            outputs(command(servlet(), Path::new(&example)).args(arguments))
        };
        let (built, _) = print_json(&["build"]);
        let built: Value = serde_json::from_str(&built).expect("JSON");
        let path = built[0]["path"].as_str().expect("a path");
        let wasm = fs::read(path).expect("a module");
        let (reports, messages) = print_json(&["test"]);
        assert_eq!(reports, "[]\n");
        let after = fs::read(path).expect("a module");
        assert!(after == wasm, "the module has lost its contract");
        assert!(messages.contains(" 0 failed"), "{messages}");
        let expected = format!("{clients} clients tested the wasm of {name}");
        assert!(messages.contains(&expected), "{messages}");
    }
}
