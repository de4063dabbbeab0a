//! Tools that only run as tasks of MCP 2025-11-25.

use mcp_servlet_call::RequestMeta;
use mcp_servlet_host::Tool;
use puppet::{Puppet, eventually};
use serde_json::{Value, json};

use crate::support::{call, client, connected, host, http, script};

/// A server whose only tool runs as a task with this result.
fn with_task(result: Value) -> Puppet {
    let tool = json!({
        "name": "t",
        "inputSchema": { "type": "object" },
        "execution": { "taskSupport": "required" },
    });
    let task = json!({ "taskId": "7", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": null });
    script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": [{ "result": { "task": task } }],
            "tasks/result": [result],
            "tasks/cancel": [{ "result": {} }],
        },
    }))
}

/// The parameters of the only request with this method.
fn params(puppet: &Puppet, method: &str) -> Value {
    let log = puppet.log();
    let mut requests = log.iter().filter(|one| one["method"] == method);
    let request = requests.next().expect("a request");
    assert!(requests.next().is_none(), "{log:?}");
    request["params"].clone()
}

#[tokio::test]
async fn a_call_waits_for_the_result_of_its_task() {
    let meta = json!({ "io.modelcontextprotocol/related-task": { "taskId": "7" }, "k": 1 });
    let puppet = with_task(json!({ "result": { "content": [], "_meta": meta } }));
    let remote = connected("r", http(puppet.http().await)).await;
    let host = host([&remote]);
    let tool = host.tools().next().map(Tool::json).expect("a tool");
    assert_eq!(tool.get("execution"), None, "clients need no tasks");
    let result = call(&remote).await.expect("a result");
    assert_eq!(
        Value::from(result.into_json()),
        json!({ "content": [], "_meta": { "k": 1 } })
    );
    assert_eq!(params(&puppet, "tools/call")["task"], json!({}));
    assert_eq!(params(&puppet, "tasks/result")["taskId"], "7");
    assert_eq!(puppet.received("tasks/cancel"), 0);
}

#[tokio::test]
async fn a_question_of_a_task_reaches_the_client() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": { "type": "object", "properties": {} } } });
    let puppet = with_task(json!({ "ask": ask, "result": { "content": [] } }));
    let remote = connected("r", http(puppet.http().await)).await;
    let request_meta = client(json!({ "elicitation": {} }));
    let asked = remote.member().call_with("t", None, &request_meta).await;
    let asked = asked.expect("a question").into_json();
    assert_eq!(asked["resultType"], "input_required");
}

#[tokio::test]
async fn a_dropped_call_cancels_its_task() {
    let puppet = with_task(json!({ "wait_ms": 60_000, "result": { "content": [] } }));
    let remote = connected("r", http(puppet.http().await)).await;
    let (member, request_meta) = (remote.member(), RequestMeta::default());
    {
        let running = member.call_with("t", None, &request_meta);
        let waits = eventually("`tasks/result`", async || {
            puppet.received("tasks/result") == 1
        });
        tokio::select! {
            ended = running => panic!("{ended:?}"),
            () = waits => {}
        }
    }
    eventually("`tasks/cancel`", async || {
        puppet.received("tasks/cancel") == 1
    })
    .await;
    assert_eq!(params(&puppet, "tasks/cancel")["taskId"], "7");
}

#[tokio::test]
async fn a_server_without_tasks_gets_ordinary_calls() {
    let tool = json!({
        "name": "t",
        "inputSchema": { "type": "object" },
        "execution": { "taskSupport": "required" },
    });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": [{ "result": { "content": [] } }],
        },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    call(&remote).await.expect("a result");
    assert_eq!(params(&puppet, "tools/call").get("task"), None);
}
