//! Servers that are killed, hang or lie.

use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_host::Remote as _;
use mcp_servlet_remote::{RemoteServer, State, WhenDown};
use puppet::{Puppet, eventually};
use serde_json::json;

use crate::support::{Mortal, call, child, connected, connected_with, http, options, with_calls};

const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn good() -> Puppet {
    with_calls(&BOTH, json!([{ "result": { "content": [] } }]))
}

/// Both answer.
async fn answer(remotes: [&Arc<RemoteServer>; 2]) {
    for remote in remotes {
        call(remote).await.expect("an answer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_others_alone_and_reconnects() {
    for versions in [["2025-11-25"], ["2026-07-28"]] {
        let puppet = with_calls(&versions, json!([{ "result": { "content": [] } }]));
        let mut mortal = Mortal::start(&puppet);
        let (one, two) = (good(), good());
        let one = connected("one", http(one.http().await)).await;
        let two = connected("two", http(two.http().await)).await;
        let three = connected("three", mortal.target()).await;
        call(&three).await.expect("an answer");
        mortal.kill();
        let error = call(&three).await.expect_err("no server");
        assert_eq!(error.kind.name(), "connectivity");
        let fault = error.to_rpc_error();
        assert_eq!(fault.code, -32000);
        assert_eq!(
            fault.data,
            Some(json!({ "remote": "three", "retry": true }))
        );
        answer([&one, &two]).await;
        let is_down = || matches!(three.state(), State::Down { .. });
        eventually("the server is down", async || is_down()).await;
        answer([&one, &two]).await;
        assert_eq!(three.lists().borrow().tools.len(), 1);
        let _mortal = Mortal::start_at(&puppet, mortal.address);
        eventually(format!("an answer, {versions:?}"), async || {
            call(&three).await
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_server_has_no_tools_while_it_is_down() {
    let puppet = with_calls(&["2025-11-25"], json!([{ "result": { "content": [] } }]));
    let mut mortal = Mortal::start(&puppet);
    let mut options = options();
    options.when_down = WhenDown::Hide;
    let remote = connected_with("r", mortal.target(), options).await;
    let lists = remote.lists();
    assert_eq!(lists.borrow().tools.len(), 1);
    mortal.kill();
    call(&remote).await.expect_err("no server");
    eventually("no tool", async || lists.borrow().tools.is_empty()).await;
    let _mortal = Mortal::start_at(&puppet, mortal.address);
    eventually("one tool", async || lists.borrow().tools.len() == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_alone() {
    let slow = json!([{ "wait_ms": 60_000, "result": { "content": [] } }]);
    let slow = with_calls(&["2025-11-25"], slow);
    let (one, two) = (good(), good());
    let one = connected("one", http(one.http().await)).await;
    let two = connected("two", http(two.http().await)).await;
    let mut options = options();
    options.timeout = Duration::from_millis(300);
    let three = connected_with("three", http(slow.http().await), options).await;
    let (error, ()) = tokio::join!(call(&three), answer([&one, &two]));
    let error = error.expect_err("no answer");
    assert_eq!(
        error.to_string(),
        "remote `three` did not answer `tools/call` within 300ms"
    );
    assert_eq!(
        (error.kind.name(), error.to_rpc_error().code),
        ("request_timeout", -32603)
    );
    eventually("`notifications/cancelled`", async || {
        slow.received("notifications/cancelled") == 1
    })
    .await;
    assert_eq!(slow.received("tools/call"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_lies_is_alone() {
    let lies = json!([
        { "result": { "content": "none" } },
        { "result": [] },
        { "result": { "content": [], "resultType": "promise" } },
        { "error": { "code": -32601, "message": "no such method" } },
        { "error": { "code": 1.5, "message": 7 } },
        { "error": { "code": -32005, "message": "slow down", "data": { "retry": 60 } } },
        { "result": { "content": [], "_meta": { "mcp-servlet/error": { "code": "X" }, "k": 1 } } },
    ]);
    let liar = with_calls(&["2026-07-28"], lies);
    let one = good();
    let one = connected("one", http(one.http().await)).await;
    let liar = connected("liar", http(liar.http().await)).await;
    for (name, code) in [
        ("bad_output", -32603),
        ("bad_output", -32603),
        ("bad_output", -32603),
        ("remote", -32603),
        ("bad_output", -32603),
        ("remote", -32005),
    ] {
        let error = call(&liar).await.expect_err("no result");
        assert_eq!(
            (error.kind.name(), error.to_rpc_error().code),
            (name, code),
            "{error}"
        );
        answer([&one, &one]).await;
    }
    let result = call(&liar).await.expect("a result");
    assert_eq!(result.json()["_meta"], json!({ "k": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_sent_once_even_if_its_connection_breaks() {
    let slow = json!([{ "wait_ms": 60_000, "result": { "content": [] } }]);
    let puppet = with_calls(&["2026-07-28"], slow);
    let mut mortal = Mortal::start(&puppet);
    let remote = connected("r", mortal.target()).await;
    let broken = async {
        eventually("`tools/call`", async || puppet.received("tools/call") == 1).await;
        mortal.kill();
        Mortal::start_at(&puppet, mortal.address)
    };
    let (error, _mortal) = tokio::join!(call(&remote), broken);
    let error = error.expect_err("no response");
    assert_eq!(error.kind.name(), "connectivity", "{error}");
    assert_eq!(puppet.received("tools/call"), 1);
}

#[tokio::test]
async fn an_error_of_http_says_whether_another_attempt_may_help() {
    for (reply, data) in [
        (
            json!({ "status": 429, "headers": { "retry-after": "30" } }),
            json!({ "remote": "r", "retry": true, "retryAfter": "30" }),
        ),
        (
            json!({ "status": 503 }),
            json!({ "remote": "r", "retry": true }),
        ),
        (
            json!({ "status": 401, "headers": { "www-authenticate": "Bearer" } }),
            json!({ "remote": "r" }),
        ),
    ] {
        let puppet = with_calls(&["2025-11-25"], json!([reply]));
        let remote = connected("r", http(puppet.http().await)).await;
        let error = call(&remote).await.expect_err("no result").to_rpc_error();
        let message = error.message;
        assert_eq!((error.code, error.data), (-32000, Some(data)), "{message}");
    }
}

#[tokio::test]
async fn a_call_after_a_crash_waits_for_the_new_connection() {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    // The first call takes so long that the connection does not count as one that ends at once.
    let replies = json!([{ "wait_ms": 1_100, "result": { "content": [] } }, { "exit": 1 }]);
    let opened = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "crashing", "version": "1" },
    });
    let script = json!({
        "versions": ["2025-11-25"],
        "replies": {
            "initialize": [{ "wait_ms": 200, "result": opened }],
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": replies,
        },
    });
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("crashing.json");
    std::fs::write(&path, script.to_string()).expect("a file");
    let remote = connected("crashing", child(path.to_str().expect("text"))).await;
    call(&remote).await.expect("a result");
    let error = call(&remote).await.expect_err("it ends in the call");
    assert_eq!(error.kind.name(), "connectivity", "{error}");
    call(&remote).await.expect("a result");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_is_started_again() {
    let remote = connected("child", child("dies-in-call")).await;
    let error = call(&remote).await.expect_err("it ends in the call");
    assert_eq!(error.kind.name(), "connectivity", "{error}");
    eventually("the server is up", async || {
        matches!(remote.state(), State::Up)
    })
    .await;
    remote.close().await;
}
