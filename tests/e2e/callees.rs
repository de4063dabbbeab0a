//! A servlet that calls tools of others, which ask the client in turn.

use std::fs;

use e2e::{fixture, hyper_mcp_fixture, no_tools_fixture, strict_fixture};
use mcp_servlet_runtime::Module;
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::message;

use crate::pipe::{accept, call, legacy, modern, result, text};
use crate::support::module;

/// A folder with a configuration of these servlets.
fn folder() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let grants = "allow = { tools = [\"elicit:*\", \"once:order\"] }\n";
    let servlets = [("planner", grants), ("elicit", ""), ("once", "")];
    let sections = servlets.map(|(name, grants)| {
        let source = fixture(name);
        format!(
            "[servlet.{name}]\nsource = '{}'\n{grants}",
            source.display()
        )
    });
    let path = folder.path().join("servlet.toml");
    fs::write(&path, sections.concat()).expect("a file");
    (folder, path)
}

/// What the client answers to these questions.
fn answer(key: &str) -> Value {
    match key {
        "elicit:greet.name" => accept(&json!({ "name": "Ada" })),
        "Send it?" => accept(&json!({})),
        "once:order.first" => accept(&json!({ "yes": true })),
        "once:order.second" => json!({ "action": "decline" }),
        other => panic!("no answer to `{other}`"),
    }
}

const QUESTIONS: [&str; 4] = [
    "elicit:greet.name",
    "Send it?",
    "once:order.first",
    "once:order.second",
];

const WELCOME: &str = "Hello, Ada! true order 41: true and false";

#[test]
fn a_stateless_client_answers_the_questions_of_all_in_turn() {
    let (_folder, path) = folder();
    let pipe = modern(&path, json!({ "elicitation": {} }));
    let mut params = json!({ "name": "welcome" });
    for key in QUESTIONS {
        let asked = result(&pipe, params.clone());
        let requests = asked["inputRequests"].as_object();
        let requests = requests.unwrap_or_else(|| panic!("{key}: {asked}"));
        assert_eq!(requests.keys().collect::<Vec<_>>(), [key]);
        params["inputResponses"] = json!({ key: answer(key) });
        params["requestState"] = asked["requestState"].clone();
    }
    assert_eq!(text(&result(&pipe, params.clone())), WELCOME);
    // What was ordered would be ordered again.
    let (_, response) = call(&pipe, params);
    let message = "this answer was used already; send the request again without `requestState`";
    assert_eq!(response["error"]["message"], message);
}

#[test]
fn a_handshake_client_answers_them_within_one_call() {
    let (_folder, path) = folder();
    let pipe = legacy(&path, json!({ "elicitation": {} }), &[]);
    pipe.begin("tools/call", json!({ "name": "welcome" }));
    for key in QUESTIONS {
        let question = pipe.next();
        assert_eq!(
            question["method"], "elicitation/create",
            "{key}: {question}"
        );
        let answer = answer(key);
        pipe.send(&message::response(&question, answer));
    }
    assert_eq!(text(&pipe.next()["result"]), WELCOME);
}

#[test]
fn without_a_grant_the_model_reads_what_is_missing() {
    let pipe = modern(&fixture("planner"), json!({ "elicitation": {} }));
    let result = result(&pipe, json!({ "name": "welcome" }));
    assert_eq!(result["isError"], true);
    assert_eq!(
        text(&result),
        "elicit:greet: servlet `planner` may not call `elicit:greet`: the operator must allow it with `allow.tools` or `--allow-tool elicit:greet`"
    );
}

#[test]
fn wasm_declares_what_it_calls() {
    let module: Module = module(&fixture("planner"));
    assert!(module.calls_tools());
    let calls: Vec<_> = module
        .needs()
        .calls
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(calls, ["elicit:greet", "once:*"]);
}

#[test]
fn for_other_hosts_the_same_source_loads_and_each_call_is_an_error() {
    for wasm in [
        hyper_mcp_fixture("planner"),
        strict_fixture("planner"),
        no_tools_fixture("planner"),
    ] {
        assert!(!module(&wasm).calls_tools(), "{}", wasm.display());
        let pipe = modern(&wasm, json!({ "elicitation": {} }));
        let result = result(&pipe, json!({ "name": "welcome" }));
        assert_eq!(result["isError"], true, "{}", wasm.display());
        assert_eq!(text(&result), "elicit:greet: this host cannot call tools");
    }
}
