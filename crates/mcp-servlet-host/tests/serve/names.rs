//! Tools that appear while servlets are served.

use mcp_servlet_host::{Host, Servlet};
use serde_json::json;

use crate::{client::Served, support::Wat};

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
fn a_tool_whose_name_is_taken_hides_no_other_that_appears_with_it() {
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
    let [_changed] = served.hear(&session, || {
        served.ask("tools/call", json!({"name": "y"}));
    });
    let list = served.ask("tools/list", json!({})).message();
    let tools = list["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["x", "y", "z"]);
}
