//! Tools that appear while servlets are being served.

use std::sync::Arc;

use mcp_servlet_host::{Filter, Host, Mount, Prefix, Servlet};
use mcp_servlet_runtime::{LoadOptions, Source};
use puppet::eventually_blocking;
use serde_json::{Value, json};

use crate::{
    client::{Served, notifications},
    support::Wat,
};

const NOTIFY: &str = r#"(import "extism:host/user" "notify_tool_list_changed" (func $notify))"#;

fn list(names: &[&str]) -> String {
    let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools: Vec<_> = names.iter().map(tool).collect();
    json!({ "tools": tools }).to_string()
}

fn load(wat: &Wat) -> Servlet {
    wat.load().expect("a servlet")
}

#[test]
fn tool_with_a_taken_name_does_not_hide_others() {
    let first = Wat::new().describe(&list(&["x"])).answer("{}");
    let second = Wat::new()
        .import(NOTIFY)
        .each("describe", &[&list(&["y"]), &list(&["x", "y", "z"])])
        .export(
            "call",
            r#"{"content":[]}"#,
            "(call $notify) (call $output {}) (i32.const 0)",
        );
    let served = Served::start(Host::new(vec![load(&first), load(&second)]));
    let session = served.open();
    let [_changed] = notifications(&session, || {
        served.ask("tools/call", json!({"name": "y"}));
    });
    let list = served.ask("tools/list", json!({})).message();
    let tools = list["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["x", "y", "z"]);
}

fn mount(name: &str, wat: &Wat, prefix: Prefix) -> Mount {
    let source = Source::Bytes {
        name: name.to_owned(),
        wasm: wat.wasm(),
    };
    let servlet = Servlet::load(source, &LoadOptions::default()).expect("a servlet");
    Mount {
        member: Arc::new(servlet).into(),
        prefix,
        filter: Filter::default(),
    }
}

fn answer(text: &str) -> String {
    json!({"content": [{"type": "text", "text": text}]}).to_string()
}

/// A servlet called `fixed` with the tool `x`.
fn fixed(prefix: Prefix) -> Mount {
    let wat = Wat::new().describe(&list(&["x"])).answer(&answer("fixed"));
    mount("fixed", &wat, prefix)
}

/// A servlet called `other` whose tools change after its first call.
fn changing(prefix: Prefix, before: &[&str], after: &[&str]) -> Mount {
    let wat = Wat::new()
        .import(NOTIFY)
        .each("describe", &[&list(before), &list(after)])
        .export(
            "call",
            &answer("other"),
            "(call $notify) (call $output {}) (i32.const 0)",
        );
    mount("other", &wat, prefix)
}

fn names(served: &Served) -> Vec<Value> {
    let list = served.ask("tools/list", json!({})).message();
    let tools = list["result"]["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].clone()).collect()
}

fn text(served: &Served, tool: &str) -> Value {
    let result = served.ask("tools/call", json!({"name": tool})).message();
    result["result"]["content"][0]["text"].clone()
}

/// Serves the mounts, and calls a tool after which the lists are read again.
fn after_a_call(mounts: Vec<Mount>, tool: &str) -> Served {
    let served = Served::start(Host::compose(mounts));
    let before = served.server.host();
    served.ask("tools/call", json!({"name": tool}));
    eventually_blocking("the lists are read again", || {
        !Arc::ptr_eq(&before, &served.server.host())
    });
    served
}

#[test]
fn added_tool_does_not_rename_others() {
    for prefix in [Prefix::Auto, Prefix::Never] {
        let other = || changing(Prefix::Auto, &["y"], &["x", "y"]);
        let served = after_a_call(vec![fixed(prefix.clone()), other()], "y");
        assert_eq!(names(&served), ["x", "other_x", "y"]);
        assert_eq!(text(&served, "x"), "fixed");
        let served = after_a_call(vec![other(), fixed(prefix)], "y");
        assert_eq!(names(&served), ["other_x", "y", "x"]);
        assert_eq!(text(&served, "x"), "fixed");
    }
}

#[test]
fn added_tool_cannot_take_a_name() {
    let other = changing(Prefix::Never, &["y"], &["x", "y"]);
    let served = after_a_call(vec![other, fixed(Prefix::Never)], "y");
    assert_eq!(names(&served), ["y", "x"]);
    assert_eq!(text(&served, "x"), "fixed");
    let other = changing(Prefix::Auto, &["x", "y"], &["x", "y", "fixed_x"]);
    let served = after_a_call(vec![other, fixed(Prefix::Auto)], "y");
    assert_eq!(names(&served), ["other_x", "y", "fixed_x"]);
    assert_eq!(text(&served, "fixed_x"), "fixed");
    let host = served.server.host();
    let problems = host.problems().map(ToString::to_string);
    let expected = "tool `fixed_x` of `other` is skipped: `fixed` already has the tool `fixed_x`";
    assert_eq!(problems.collect::<Vec<_>>(), [expected]);
}

#[test]
fn removed_tool_does_not_rename_others() {
    let other = changing(Prefix::Auto, &["x", "y"], &["y"]);
    let served = after_a_call(vec![fixed(Prefix::Auto), other], "y");
    assert_eq!(names(&served), ["fixed_x", "y"]);
}
