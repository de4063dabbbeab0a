//! `servlet dev`: from an edit to another answer, with the client connected.

use std::fs;
use std::path::Path;

use e2e::servlet;
use serde_json::json;

use crate::projects::{command, start};
use crate::streams::Wire;

const CHANGED: &str = "notifications/tools/list_changed";

/// Makes all changes in one write, so that no build sees some of them.
fn edit<const N: usize>(project: &Path, changes: [(&str, &str); N]) {
    let source = project.join("src/lib.rs");
    let mut text = fs::read_to_string(&source).expect("a source");
    for (from, to) in changes {
        assert!(text.contains(from), "{text}");
        text = text.replace(from, to);
    }
    fs::write(source, text).expect("a file");
}

fn dev(project: &Path) -> Wire {
    let mut command = command(servlet(), project);
    command.arg("dev");
    Wire::start(command)
}

#[test]
fn an_edit_is_served_and_one_that_does_not_build_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "lively", &[]);
    let wire = dev(&project);
    let greet = || wire.call("greet", &json!({ "name": "Ada" }));
    assert_eq!(greet(), "Hello, Ada!");

    let leaves = ("/// Greets someone.", "/// Greets someone who leaves.");
    edit(&project, [leaves, ("Hello, ", "Bye, ")]);
    wire.hear(CHANGED);
    assert_eq!(greet(), "Bye, Ada!");

    edit(&project, [("fn greet(", "fn greet((")]);
    wire.says("error: this file contains an unclosed delimiter\n  --> src/lib.rs:");
    wire.says(
        "error: `lively` does not build\nwhat was built before is served; waiting for a change",
    );
    assert_eq!(greet(), "Bye, Ada!");

    edit(
        &project,
        [("fn greet((", "fn salute("), ("[greet]", "[salute]")],
    );
    wire.hear(CHANGED);
    assert_eq!(wire.call("salute", &json!({ "name": "Ada" })), "Bye, Ada!");
    assert!(wire.finish().success());
}

#[test]
fn what_does_not_build_at_first_is_served_once_it_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "hesitant", &[]);
    edit(&project, [("tools: [greet]", "tools: [greed]")]);
    let wire = dev(&project);
    wire.says("error[E0425]");
    wire.says("nothing is served until it is there; waiting for a change");
    assert_eq!(
        wire.ask("tools/list", json!({}))["result"]["tools"],
        json!([])
    );

    edit(&project, [("tools: [greed]", "tools: [greet]")]);
    wire.hear(CHANGED);
    assert_eq!(wire.call("greet", &json!({ "name": "Ada" })), "Hello, Ada!");
    assert!(wire.finish().success());
}
