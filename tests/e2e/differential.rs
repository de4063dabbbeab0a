//! The examples and fixtures in the `extism` crate and in our runtime, with the same inputs. See
//! `crates/host/mcp-servlet-runtime/tests/differential`.

#[path = "../../crates/host/mcp-servlet-runtime/tests/differential/sides.rs"]
mod sides;

use std::path::Path;

use e2e::{ALL, Profile, fixture, root, wasm};
use extism::{Function, PTR, UserData};
use mcp_servlet_runtime::LoadOptions;
use serde_json::{Value, json};

use sides::{Module, Outcome};

/// An export and its input.
type Input = (&'static str, String);

/// Calls of fixtures whose results depend on the host. Some of them trap.
const FIXTURES: [(&str, &str, &str); 14] = [
    ("config", "who", "{}"),
    ("log", "note", r#"{"text":"Ada Lovelace"}"#),
    ("parts", "repeat", r#"{"text":"Ada Lovelace"}"#),
    ("platform", "file", r#"{"path":"/etc/hosts"}"#),
    ("platform", "recurse", r#"{"depth":0}"#),
    ("platform", "thread", "{}"),
    ("platform", "time", "{}"),
    ("probe", "fall", r#"{"why":"it is steep"}"#),
    ("probe", "overrun", r#"{"at":7}"#),
    ("probe", "hoard", "{}"),
    ("probe", "refuse", r#"{"data":[1,"2"]}"#),
    ("structs", "turn", r#"{"place":{"east":3,"north":4}}"#),
    ("text", "repeat", r#"{"text":"Ada Lovelace"}"#),
    ("vars", "swap", r#"{"text":"Ada Lovelace"}"#),
];

/// The examples whose results depend on variables, which an instance of Extism keeps to itself.
const KEEP_VARIABLES: [&str; 1] = ["kv-notes"];

fn module(path: &Path) -> Module {
    let wasm = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut options = LoadOptions::default();
    options.config = [("name".to_owned(), "Ada".to_owned())].into();
    // The compiler of a debug build takes minutes for the largest examples.
    options.compile = None;
    Module::compile(&wasm, &options, hyper_mcp_functions()).expect("Extism compiles it")
}

/// The functions of hyper-mcp. There is no client, so they do nothing. No call here needs what the last ones return.
fn hyper_mcp_functions() -> Vec<Function> {
    let function = |(name, takes, returns): (&str, usize, usize)| {
        let (takes, returns) = (vec![PTR; takes], vec![PTR; returns]);
        Function::new(name, takes, returns, UserData::new(()), |_, _, _, _| Ok(()))
            .with_namespace("extism:host/user")
    };
    let functions = [
        ("notify_logging_message", 1, 0),
        ("notify_progress", 1, 0),
        ("notify_resource_updated", 1, 0),
        ("notify_tool_list_changed", 0, 0),
        ("create_elicitation", 1, 1),
        ("create_message", 1, 1),
        ("list_roots", 0, 1),
    ];
    functions.map(function).into()
}

fn call(tool: &str, arguments: &Value) -> Input {
    let input = json!({ "params": { "name": tool, "arguments": arguments } });
    ("call", input.to_string())
}

/// The description, a call of each tool of all examples, and the recorded requests. Calls of tools
/// that an example does not have are errors.
fn inputs(example: &str) -> Vec<Input> {
    let calls = std::fs::read(root().join("tests/clients/calls.json")).expect("calls");
    let calls: serde_json::Map<String, Value> = serde_json::from_slice(&calls).expect("JSON");
    let mut inputs = vec![("describe", String::new())];
    // The errors of `http_request` differ, and the two sides do not read the clock at the same time.
    let is_repeatable = |tool: &str| !["fetch", "next_time"].contains(&tool);
    let calls = calls.iter().filter(|(tool, _)| is_repeatable(tool));
    inputs.extend(calls.map(|(tool, arguments)| call(tool, arguments)));
    let recorded = root().join(format!("tests/e2e/wire/{example}.servlet.txt"));
    let recorded = std::fs::read_to_string(recorded).unwrap_or_default();
    let is_recorded = ["everything", "greet", "kv-notes"].contains(&example);
    assert_eq!(!recorded.is_empty(), is_recorded, "{example}");
    let lines = recorded.lines().filter_map(|line| line.strip_prefix("> "));
    inputs.extend(lines.map(|line| {
        let (export, input) = line.split_once(' ').unwrap_or((line, ""));
        (&*export.to_owned().leak(), input.to_owned())
    }));
    inputs
}

#[test]
fn examples_have_the_same_results() {
    for example in ALL {
        let module = module(&wasm(example, Profile::Servlet));
        let inputs = inputs(example);
        let calls = inputs
            .iter()
            .map(|(export, input)| (*export, input.as_bytes()));
        let calls: Vec<_> = calls.collect();
        if !KEEP_VARIABLES.contains(&example) {
            module.in_new_instances(&calls);
        }
        let outcomes = module.in_one_instance(&calls);
        assert!(
            matches!(outcomes[0], Outcome::Output(_)),
            "{example}: {outcomes:?}"
        );
        let has_run = |outcome: &Outcome| !format!("{outcome:?}").contains("unknown tool");
        assert!(
            example == "fetch" || outcomes[1..].iter().any(has_run),
            "{example}: {outcomes:?}"
        );
    }
}

#[test]
fn fixtures_have_the_same_results() {
    for (name, tool, arguments) in FIXTURES {
        let mut module = module(&fixture(name));
        module.is_endless = tool == "recurse";
        let arguments = serde_json::from_str(arguments).expect("JSON");
        let (export, input) = call(tool, &arguments);
        let outcomes = module.in_new_instances(&[("describe", b""), (export, input.as_bytes())]);
        let outcomes = format!("{outcomes:?}");
        assert!(!outcomes.contains("unknown tool"), "{name}: {outcomes}");
    }
}

#[test]
fn a_plugin_of_hyper_mcp_has_the_same_results() {
    let input = |rest: &str| format!(r#"{{"context":{{"id":7,"_meta":{{}}}}{rest}}}"#);
    let tool = |name: &str| input(&format!(r#","request":{{"name":"{name}"}}"#));
    let (list, inputs) = (input(""), ["id", "learn", "nobody"].map(tool));
    let mut calls = vec![("list_tools", list.as_bytes())];
    calls.extend(inputs.iter().map(|input| ("call_tool", input.as_bytes())));
    calls.push(("list_tools", list.as_bytes()));
    calls.push(("call_tool", b"{}"));
    let module = module(&fixture("hyper_mcp"));
    let listed_again = |outcomes: Vec<Outcome>| format!("{:?}", outcomes[4]);
    assert!(listed_again(module.in_one_instance(&calls)).contains("learned"));
    assert!(!listed_again(module.in_new_instances(&calls)).contains("learned"));
}
