//! The lists of remotes, which may be wrong.

use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_host::{FeatureKind, Listed, Remote as _, RemoteLists, Tool};
use puppet::{PATIENCE, eventually};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::support::{call, connected, host, http, script};

#[tokio::test]
async fn defects_do_not_hide_the_good_tools() {
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
    let expected = [
        json!({ "name": "bad-text", "inputSchema": object }),
        json!({ "name": "good", "inputSchema": object, "vendor": true, "_meta": { "y": 2 } }),
    ];
    let found = lists.tools.iter().map(|tool| json!(tool.json()));
    assert!(found.eq(expected), "{:?}", lists.tools);
}

#[tokio::test]
async fn resources_and_prompts_are_checked_too() {
    let puppet = script(json!({
        "capabilities": { "resources": {}, "prompts": {} },
        "replies": {
            "resources/list": [{ "result": { "resources": [{ "uri": "a:1", "name": "a" }, { "name": "b" }, { "uri": "a:1" }] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [{ "uriTemplate": "a:{x}", "name": "x" }, { "uriTemplate": "b:{x}" }, []] } }],
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
    let changes = ["tools", "resources", "prompts"];
    let changes =
        changes.map(|one| json!({ "method": format!("notifications/{one}/list_changed") }));
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "tools/list": [list(&["t"]), list(&["t", "u"])],
            "tools/call": [{ "before": changes, "sse": true, "result": { "content": [] } }],
        },
    }));
    let remote = connected("changing", http(puppet.http().await)).await;
    let before = host([&remote]);
    assert_eq!(before.tools().count(), 1);
    crate::support::call(&remote).await.expect("a result");
    let lists = remote.lists();
    eventually("two tools", async || lists.borrow().tools.len() == 2).await;
    let names = before.relisted();
    let names: Vec<_> = names.tools().map(Tool::name).collect();
    assert_eq!(names, ["changing_t", "changing_u"]);
}

#[tokio::test]
async fn a_change_while_the_lists_are_read_is_not_lost() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let change = json!({ "method": "notifications/tools/list_changed" });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "tools/list": [
                { "before": [change], "sse": true, "result": { "tools": [tool("t")] } },
                { "result": { "tools": [tool("t"), tool("u")] } },
            ],
        },
    }));
    let remote = connected("changing", http(puppet.http().await)).await;
    let lists = remote.lists();
    eventually("two tools", async || lists.borrow().tools.len() == 2).await;
}

/// The list of a server with these tools.
fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    json!({ "resultType": "complete", "tools": names.iter().map(tool).collect::<Vec<_>>() })
}

async fn changed(lists: &mut watch::Receiver<Arc<RemoteLists>>) {
    let changed = timeout(PATIENCE, lists.changed()).await;
    changed.expect("other lists").expect("a remote");
}

#[tokio::test]
async fn a_list_that_fails_for_a_moment_keeps_its_entries_and_is_read_again() {
    let change = json!({ "method": "notifications/tools/list_changed" });
    for failure in [
        json!({ "status": 503 }),
        json!({ "error": { "code": -32603, "message": "busy" } }),
    ] {
        let puppet = script(json!({
            "versions": ["2025-11-25"],
            "capabilities": { "tools": { "listChanged": true }, "prompts": {} },
            "replies": {
                "tools/list": [{ "result": tools(&["a", "b"]) }, failure, { "result": tools(&["a", "b", "c"]) }],
                "prompts/list": [{ "result": { "prompts": [] } }, { "result": { "prompts": [{ "name": "p" }] } }],
                "tools/call": [{ "before": [change], "sse": true, "result": { "content": [] } }],
            },
        }));
        let remote = connected("busy", http(puppet.http().await)).await;
        let mut lists = remote.lists();
        lists.mark_unchanged();
        call(&remote).await.expect("a result");
        // The prompts could be read.
        changed(&mut lists).await;
        let read = lists.borrow_and_update().clone();
        let names = read.tools.iter().map(Tool::name);
        assert_eq!(names.collect::<Vec<_>>(), ["a", "b"], "{failure}");
        changed(&mut lists).await;
        assert_eq!(lists.borrow().tools.len(), 3, "{failure}");
    }
}

#[tokio::test]
async fn a_list_that_fails_when_the_server_connects_is_read_again() {
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "prompts": {} },
        "replies": {
            "tools/list": [{ "status": 429 }, { "result": tools(&["a"]) }],
            "prompts/list": [{ "result": { "prompts": [] } }],
        },
    }));
    let remote = connected("busy", http(puppet.http().await)).await;
    let lists = remote.lists();
    eventually("the tool", async || lists.borrow().tools.len() == 1).await;
}

#[tokio::test]
async fn lists_are_partial_while_one_was_never_read() {
    let busy = json!({ "error": { "code": -32603, "message": "busy" } });
    let read = json!({ "result": tools(&["a"]) });
    for (replies, partial) in [
        (json!([busy]), vec![FeatureKind::Tool]),
        (json!([busy, busy, read, busy]), Vec::new()),
    ] {
        let puppet = script(json!({
            "versions": ["2025-11-25"],
            "capabilities": { "tools": {}, "prompts": {} },
            "replies": { "tools/list": replies, "prompts/list": [{ "result": { "prompts": [] } }] },
        }));
        let remote = connected("busy", http(puppet.http().await)).await;
        let lists = remote.lists();
        eventually("several readings", async || {
            puppet.received("tools/list") > 2
        })
        .await;
        eventually("the lists", async || lists.borrow().partial == partial).await;
        assert_eq!(lists.borrow().tools.is_empty(), !partial.is_empty());
    }
}

#[tokio::test]
async fn each_list_has_its_own_error() {
    let error = |code: i32| json!({ "error": { "code": code, "message": "no list" } });
    let prompts = |names: &[&str]| {
        let all: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
        json!({ "result": { "prompts": all } })
    };
    let change = json!({ "method": "notifications/prompts/list_changed" });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "prompts": { "listChanged": true } },
        "replies": {
            "tools/list": [error(-32601)],
            "prompts/list": [prompts(&["p"]), error(-32603), prompts(&["p", "q"])],
            "tools/call": [{ "before": [change], "sse": true, "result": { "content": [] } }],
        },
    }));
    let remote = connected("busy", http(puppet.http().await)).await;
    let mut lists = remote.lists();
    assert_eq!(lists.borrow_and_update().prompts.len(), 1);
    call(&remote).await.expect("a result");
    changed(&mut lists).await;
    assert_eq!(lists.borrow().prompts.len(), 2);
}

#[tokio::test]
async fn a_list_that_the_server_does_not_have_is_not_read_again() {
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "prompts": {} },
        "replies": {
            "tools/list": [{ "result": tools(&["a"]) }],
            "prompts/list": [{ "error": { "code": -32601, "message": "no such method" } }],
        },
    }));
    let _remote = connected("without", http(puppet.http().await)).await;
    // It would be read again after 100 ms.
    crate::support::others_are_idle(Duration::from_millis(500)).await;
    assert_eq!(puppet.received("prompts/list"), 1);
}

/// It takes the 10 seconds after which a subscription is made again.
#[tokio::test]
async fn a_subscription_that_fails_for_a_moment_is_made_again() {
    let subscription = |id: &str| json!({ "io.modelcontextprotocol/subscriptionId": id });
    let acknowledged = json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": subscription("$id"), "notifications": { "toolsListChanged": true } },
    });
    let change = json!({
        "method": "notifications/tools/list_changed",
        "params": { "_meta": subscription("$subscription") },
    });
    let puppet = script(json!({
        "versions": ["2026-07-28"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "subscriptions/listen": [{ "status": 503 }, { "before": [acknowledged], "wait_ms": 600_000 }],
            // At the connection, after the subscription, and after the change.
            "tools/list": [{ "result": tools(&["t"]) }, { "result": tools(&["t"]) }, { "result": tools(&["t", "u"]) }],
            "tools/call": [{ "before": [change], "sse": true, "result": { "resultType": "complete", "content": [] } }],
        },
    }));
    let remote = connected("changing", http(puppet.http().await)).await;
    eventually("the second list", async || {
        puppet.received("tools/list") == 2
    })
    .await;
    call(&remote).await.expect("a result");
    let lists = remote.lists();
    eventually("two tools", async || lists.borrow().tools.len() == 2).await;
}

#[tokio::test]
async fn a_list_may_have_as_many_pages_as_entries() {
    let page = |at: usize| {
        let next = (at < 150).then(|| (at + 1).to_string());
        let resource = json!({ "uri": format!("a:{at}"), "name": "a" });
        json!({ "result": { "resources": [resource], "nextCursor": next } })
    };
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "resources": {} },
        "replies": { "resources/list": (1..=150).map(page).collect::<Vec<_>>() },
    }));
    let remote = connected("long", http(puppet.http().await)).await;
    assert_eq!(remote.lists().borrow().resources.len(), 150);
}

#[tokio::test]
async fn a_server_is_asked_for_its_lists_after_the_subscription() {
    let acknowledged = json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": "$id" }, "notifications": { "toolsListChanged": true } },
    });
    let puppet = script(json!({
        "versions": ["2026-07-28"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "subscriptions/listen": [{ "before": [acknowledged] }],
            "tools/list": [{ "result": { "resultType": "complete", "tools": [] } }],
        },
    }));
    let _remote = connected("changing", http(puppet.http().await)).await;
    let log = puppet.log();
    let at = |method: &str| log.iter().position(|one| one["method"] == method);
    assert!(
        at("subscriptions/listen").expect("a subscription") < at("tools/list").expect("a list")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn null_and_missing_members_reach_no_client() {
    let tool = json!({
        "name": "t", "title": null, "description": null, "outputSchema": null, "annotations": null,
        "inputSchema": { "type": "object", "properties": [], "required": null },
    });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": [], "prompts": {}, "resources": null },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "prompts/list": [{ "result": { "prompts": "none" } }],
            "tools/call": [
                { "result": { "structuredContent": { "a": null }, "isError": null } },
                { "line": "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":\"E42\",\"message\":\"the disk is full\"}}" },
            ],
        },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    let lists = remote.lists().borrow().clone();
    let schema = json!({ "type": "object", "properties": {} });
    let expected = json!({ "name": "t", "inputSchema": schema });
    assert_eq!(
        lists.tools.iter().map(Tool::json).collect::<Vec<_>>(),
        [expected.as_object().expect("one")]
    );
    let result = call(&remote).await.expect("a result");
    let expected = json!({ "structuredContent": { "a": null }, "content": [] });
    assert_eq!(Some(result.json()), expected.as_object());
    let error = call(&remote).await.expect_err("an error");
    assert!(error.to_string().contains("the disk is full"), "{error}");
}
