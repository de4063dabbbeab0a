//! The lists of remotes, which may be wrong.

use std::time::Duration;

use mcp_servlet_host::{Listed, Remote as _, Tool};
use serde_json::json;

use crate::support::{connected, host, http, script, within};

#[tokio::test]
async fn twelve_defects_do_not_hide_the_good_tool() {
    let object = json!({ "type": "object" });
    let tools = json!([
        7,
        { "inputSchema": object },
        { "name": 1, "inputSchema": object },
        { "name": " ", "inputSchema": object },
        { "name": "two\nlines", "inputSchema": object },
        { "name": "no-schema" },
        { "name": "schema-is-text", "inputSchema": "object" },
        { "name": "schema-is-array", "inputSchema": { "type": "array" } },
        { "name": "bad-schema", "inputSchema": { "type": "object", "properties": { "a": { "type": "strin" } } } },
        { "name": "bad-output", "inputSchema": object, "outputSchema": { "type": 1 } },
        { "name": "bad-text", "inputSchema": object, "description": ["a"] },
        { "name": "good", "inputSchema": object, "vendor": true, "_meta": { "mcp-servlet/x": 1, "y": 2 } },
        { "name": "good", "inputSchema": object, "description": "the second one" },
    ]);
    let puppet = script(json!({
        "capabilities": { "tools": {} },
        "replies": { "tools/list": [{ "result": { "tools": tools } }] },
    }));
    let remote = connected("odd", http(puppet.http().await)).await;
    let lists = remote.lists().borrow().clone();
    let expected =
        json!({ "name": "good", "inputSchema": object, "vendor": true, "_meta": { "y": 2 } });
    assert_eq!(
        lists.tools.iter().map(Tool::json).collect::<Vec<_>>(),
        [expected.as_object().expect("one")]
    );
}

#[tokio::test]
async fn resources_and_prompts_are_checked_too() {
    let puppet = script(json!({
        "capabilities": { "resources": {}, "prompts": {} },
        "replies": {
            "resources/list": [{ "result": { "resources": [{ "uri": "a:1", "name": "a" }, { "name": "b" }, { "uri": "a:1" }] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [{ "uriTemplate": "a:{x}" }, []] } }],
            "prompts/list": [{ "result": { "prompts": [{ "name": "" }, { "name": "p" }] } }],
        },
    }));
    let remote = connected("odd", http(puppet.http().await)).await;
    let lists = remote.lists().borrow().clone();
    let keys = |list: &[Listed]| {
        list.iter()
            .map(|one| one.key().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&lists.resources), ["a:1"]);
    assert_eq!(keys(&lists.resource_templates), ["a:{x}"]);
    assert_eq!(keys(&lists.prompts), ["p"]);
}

#[tokio::test]
async fn a_changed_list_is_read_again() {
    let list = |names: &[&str]| {
        let tools: Vec<_> = names
            .iter()
            .map(|name| json!({ "name": name, "inputSchema": {} }))
            .collect();
        json!({ "result": { "tools": tools } })
    };
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "tools/list": [list(&["t"]), list(&["t", "u"])],
            "tools/call": [{ "before": [{ "method": "notifications/tools/list_changed" }], "sse": true, "result": { "content": [] } }],
        },
    }));
    let remote = connected("changing", http(puppet.http().await)).await;
    let before = host([&remote]);
    assert_eq!(before.tools().count(), 1);
    crate::support::call(&remote).await.expect("a result");
    let lists = remote.lists();
    within(Duration::from_secs(2), || lists.borrow().tools.len() == 2).await;
    let names = before.relisted();
    let names: Vec<_> = names.tools().map(Tool::name).collect();
    assert_eq!(names, ["changing_t", "changing_u"]);
}
