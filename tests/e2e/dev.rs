//! `servlet dev`: from an edit to a changed answer, while the client stays connected.

use std::fs;
use std::path::Path;
use std::time::Duration;

use e2e::servlet;
use serde_json::json;
use wire::{Process, message::text};

use crate::projects::{command, start};

/// Longer than a build takes on a busy machine.
const BUILD: Duration = Duration::from_mins(10);

const CHANGED: &str = "notifications/tools/list_changed";

/// Makes all changes in one write, so that no build sees only some of them.
fn edit<const N: usize>(project: &Path, changes: [(&str, &str); N]) {
    let source = project.join("src/lib.rs");
    let mut text = fs::read_to_string(&source).expect("a source");
    for (from, to) in changes {
        assert!(text.contains(from), "{text}");
        text = text.replace(from, to);
    }
    fs::write(source, text).expect("a file");
}

fn dev(project: &Path) -> Process {
    let mut command = command(servlet(), project);
    command.arg("dev");
    Process::start(command).patient(BUILD)
}

#[test]
fn serves_an_edit_and_reports_one_that_does_not_build() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "lively", &[]);
    let wire = dev(&project);
    let greet = || wire.call("greet", &json!({ "name": "Ada" }));
    assert_eq!(greet(), "Hello, Ada!");
    wire.wait_for(CHANGED);

    let leaves = ("/// Greets someone.", "/// Greets someone who leaves.");
    edit(&project, [leaves, ("Hello, ", "Bye, ")]);
    wire.wait_for(CHANGED);
    assert_eq!(greet(), "Bye, Ada!");

    edit(&project, [("fn greet(", "fn greet((")]);
    wire.says("error: this file contains an unclosed delimiter\n  --> src/lib.rs:");
    wire.says(
        "error: `lively` does not build\nthe servlets of the last successful build are still served; waiting for a change",
    );
    assert_eq!(greet(), "Bye, Ada!");

    edit(
        &project,
        [("fn greet((", "fn salute("), ("[greet]", "[salute]")],
    );
    wire.wait_for(CHANGED);
    assert_eq!(wire.call("salute", &json!({ "name": "Ada" })), "Bye, Ada!");
    assert!(wire.finish().success());
}

#[test]
fn project_is_served_after_its_first_successful_build() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "hesitant", &[]);
    edit(&project, [("tools: [greet]", "tools: [greed]")]);
    let wire = dev(&project);
    let list = wire.begin("tools/list", json!({}));
    wire.says("error[E0425]");
    wire.says("no servlet is served until a build succeeds; waiting for a change");
    assert_eq!(wire.end(list)["result"]["tools"], json!([]));

    edit(&project, [("tools: [greed]", "tools: [greet]")]);
    wire.wait_for(CHANGED);
    assert_eq!(wire.call("greet", &json!({ "name": "Ada" })), "Hello, Ada!");
    assert!(wire.finish().success());
}

/// A build script that ends once the file `open` is next to the project.
const GATE: &str = r#"
fn main() {
    println!("cargo:rerun-if-changed=../open");
    for _ in 0..600 {
        if std::path::Path::new("../open").exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("the gate stayed closed");
}
"#;

/// A client that connects during the first build: its requests to servlets wait for the build.
fn wait_for_the_first_build(wire: &Process, open: &Path) {
    wire.says("building `gated`…");
    let requests = [
        wire.begin("tools/list", json!({})),
        wire.begin_call("greet", &json!({ "name": "Ada" })),
        wire.begin("prompts/list", json!({})),
    ];
    let early = wire.begin("resources/list", json!({}));
    wire.tell("notifications/cancelled", json!({ "requestId": early }));
    // The server answers this later request first, so the others wait for the build.
    wire.ask("server/discover", json!({}));
    assert!(!requests.iter().any(|request| wire.is_answered(*request)));

    fs::write(open, "").expect("a file");
    let [mut tools, greeting, prompts] = requests.map(|request| wire.end(request));
    assert_eq!(text(&greeting), "Hello, Ada!");
    // A list waits some seconds at most, and the build of a busy machine takes longer.
    if tools["result"]["tools"] == json!([]) {
        tools = wire.ask("tools/list", json!({}));
    }
    assert_eq!(tools["result"]["tools"][0]["name"], "greet");
    assert_eq!(prompts["result"]["prompts"], json!([]));
    assert!(!wire.is_answered(early));
    wire.says("built `gated` in ");
    wire.says("serving gated\n");
}

#[test]
fn clients_connect_while_the_first_build_runs_and_their_lists_wait_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = start(folder.path(), "gated", &[]);
    fs::write(project.join("build.rs"), GATE).expect("a file");
    let open = folder.path().join("open");
    let dev = || {
        let mut command = command(servlet(), &project);
        command.arg("dev");
        command
    };

    let wire = Process::connect(dev()).patient(BUILD);
    let opened = wire.open(json!({}));
    assert_eq!(opened["serverInfo"]["name"], "gated");
    for feature in ["tools", "resources", "prompts", "completions", "logging"] {
        assert!(opened["capabilities"][feature].is_object(), "{opened}");
    }
    wait_for_the_first_build(&wire, &open);
    wire.wait_for(CHANGED);
    assert!(wire.finish().success());

    fs::remove_file(&open).expect("a file");
    let wire = Process::stateless(dev(), json!({})).patient(BUILD);
    wire.ask("server/discover", json!({}));
    wait_for_the_first_build(&wire, &open);
    assert!(wire.finish().success());
}
