//! One server that serves the same servlet under two names: the lists that clients see, and access to everything in
//! them.

use std::fs;

use e2e::{Profile, servlet_command, wasm};
use serde_json::{Value, json};
use wire::Process;

/// A server of `kv-notes` under the names `a` and `b`, and the folder of its configuration.
fn notes_twice() -> (Process, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = wasm("kv_notes", Profile::Servlet);
    let source = source.to_str().expect("UTF-8");
    let config = folder.path().join("servlet.toml");
    let text = format!("[servlet.a]\nsource = {source:?}\n[servlet.b]\nsource = {source:?}\n");
    fs::write(&config, text).expect("a file");
    let mut command = servlet_command(["serve"]);
    command.arg(config).env("RUST_LOG", "off");
    (Process::start(command), folder)
}

fn names(wire: &Process, list: &str, member: &str, key: &str) -> Vec<String> {
    let answer = wire.ask(list, json!({}));
    let entries = answer["result"][member].as_array().expect("a list");
    let names = entries.iter().map(|entry| entry[key].as_str());
    names.map(|name| name.expect("text").to_owned()).collect()
}

fn suggested(wire: &Process, prompt: &str) -> Value {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": prompt },
        "argument": { "name": "name", "value": "" },
    });
    wire.ask("completion/complete", params)["result"]["completion"]["values"].take()
}

fn summary(wire: &Process, prompt: &str) -> Value {
    let params = json!({ "name": prompt, "arguments": { "name": "to do" } });
    wire.ask("prompts/get", params)
}

#[test]
fn same_names_get_prefixes_and_links_still_work() {
    let (wire, _folder) = notes_twice();
    wire.says("resource `notes://index` of ");
    assert_eq!(
        names(&wire, "prompts/list", "prompts", "name"),
        ["a_summarize", "b_summarize"]
    );
    assert_eq!(
        names(&wire, "resources/list", "resources", "uri"),
        ["notes://index"]
    );
    let note = json!({ "name": "to do", "text": "sleep" });
    let written = wire.end(wire.begin_call("b_write_note", &note));
    let link = &written["result"]["content"][1]["uri"];
    let read = wire.ask("resources/read", json!({ "uri": link }));
    assert_eq!(read["result"]["contents"][0]["text"], "sleep", "{read}");

    let messages = summary(&wire, "b_summarize");
    let embedded = &messages["result"]["messages"][1]["content"]["resource"];
    assert_eq!(
        (&embedded["uri"], &embedded["text"]),
        (link, &json!("sleep"))
    );
    let other = summary(&wire, "a_summarize");
    let problem = other["error"]["message"].as_str().expect("an error");
    assert!(
        problem.contains("there is no note called `to do`"),
        "{other}"
    );
    assert_eq!(suggested(&wire, "b_summarize"), json!(["to do"]));
    assert_eq!(suggested(&wire, "a_summarize"), json!([]));
    assert!(wire.finish().success());
}
