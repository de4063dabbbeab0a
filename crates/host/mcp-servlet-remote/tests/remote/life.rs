//! Connecting, waiting and closing.

use std::net::SocketAddr;
use std::time::Duration;

use mcp_servlet_host::Remote as _;
use mcp_servlet_remote::{RemoteServer, State};
use puppet::{Puppet, eventually};
use serde_json::json;

use crate::support::{
    Mortal, call, child, connected, connected_with, http, options, others_are_idle, script, sse,
    with_calls,
};

/// An address where nothing listens.
fn free() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a port")
}

#[tokio::test]
async fn a_request_may_have_no_time_limit() {
    let puppet = with_calls(&["2025-11-25"], json!([{ "result": { "content": [] } }]));
    let mut options = options();
    options.timeout = Duration::MAX;
    let remote = connected_with("patient", http(puppet.http().await), options).await;
    call(&remote).await.expect("a result");
}

#[tokio::test]
async fn all_transports_work() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    for target in [child("plain"), http(address), sse(address)] {
        let remote = connected("plain", target).await;
        let lists = remote.lists().borrow().clone();
        assert_eq!(lists.tools.len(), 1, "{}", remote.origin());
        remote.close().await;
        let error = call(&remote).await.expect_err("it is closed");
        assert_eq!(error.kind.name(), "connectivity");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_server_that_comes_later_appear_later() {
    let puppet = with_calls(&["2026-07-28"], json!([{ "result": { "content": [] } }]));
    let address = free();
    let remote = RemoteServer::start("later", http(address), options());
    let lists = remote.lists();
    eventually("the server is down", async || {
        matches!(remote.state(), State::Down { .. })
    })
    .await;
    assert!(lists.borrow().tools.is_empty());
    let _mortal = Mortal::start_at(&puppet, address);
    eventually("one tool", async || lists.borrow().tools.len() == 1).await;
    call(&remote).await.expect("an answer");
}

#[tokio::test]
async fn the_last_of_some_attempts_is_final() {
    let mut options = options();
    options.retries.most = Some(2);
    options.retries.every = Duration::from_millis(10);
    let remote = RemoteServer::start("gone", http(free()), options);
    let error = remote.ready().await.expect_err("no server");
    let text = error.to_string();
    assert!(
        text.starts_with("remote `gone` cannot be reached: "),
        "{text}"
    );
    let error = call(&remote).await.expect_err("no server");
    assert_eq!(error.kind.name(), "retry_exhausted");
    assert!(
        error
            .to_string()
            .starts_with("remote `gone` cannot be used after 3 attempts: "),
        "{error}"
    );
    let fault = error.to_rpc_error();
    assert_eq!(
        (fault.code, fault.data),
        (-32000, Some(json!({ "remote": "gone" })))
    );
}

#[tokio::test]
async fn a_required_server_has_the_time_of_one_attempt() {
    let mut options = options();
    options.connect = Duration::from_millis(300);
    let remote = RemoteServer::start("gone", http(free()), options);
    remote.ready().await.expect_err("no server");
    // The attempts go on.
    let error = call(&remote).await.expect_err("no server");
    assert_eq!(error.kind.name(), "connectivity");
}

/// A command that writes its process id to a file and plays a script.
#[cfg(target_os = "linux")]
fn with_pid(file: &std::path::Path, script: &str) -> mcp_servlet_client::Target {
    let line = "echo $$ > \"$0\"; exec \"$1\" \"$2\"";
    let command = mcp_servlet_client::Command::new("sh").args(["-c", line]);
    let command = command.args([file.as_os_str()]);
    command.args([puppet::program(), script]).into()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn the_process_of_a_retired_server_ends_even_if_a_call_still_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let mut options = options();
    options.timeout = Duration::from_mins(1);
    options.drain = Duration::from_millis(300);
    let remote = connected_with("old", with_pid(&file, "slow"), options).await;
    let pid = std::fs::read_to_string(&file).expect("a process id");
    let lives = || {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    assert!(lives());
    let (called, ()) = tokio::join!(call(&remote), async { remote.retire() });
    let error = called.expect_err("it never answers");
    assert_eq!(
        error.to_string(),
        "remote `old` cannot be reached: the host no longer uses it"
    );
    eventually("the end of the process", async || !lives()).await;
    // The handle does not keep it.
    assert!(matches!(remote.state(), State::Down { .. }));
}

#[tokio::test]
async fn a_call_of_a_retired_server_has_time_to_end() {
    let replies = json!([{ "wait_ms": 500, "result": { "content": [] } }]);
    let puppet = with_calls(&["2025-11-25"], replies);
    let remote = connected("old", http(puppet.http().await)).await;
    let (called, ()) = tokio::join!(call(&remote), async { remote.retire() });
    called.expect("a result");
    // Requests that still reach it have the rest of that time.
    call(&remote).await.expect("a result");
}

#[tokio::test]
async fn an_idle_connection_closes_and_comes_back() {
    let puppet = with_calls(
        &["2025-11-25"],
        json!([{ "wait_ms": 400, "result": { "content": [] } }]),
    );
    let mut options = options();
    options.idle = Some(Duration::from_millis(200));
    let remote = connected_with("idle", http(puppet.http().await), options).await;
    // A call that takes longer does not count as idle.
    call(&remote).await.expect("an answer");
    assert_eq!(puppet.received("initialize"), 1);
    eventually("the connection is idle", async || {
        matches!(remote.state(), State::Idle)
    })
    .await;
    assert_eq!(remote.lists().borrow().tools.len(), 1);
    call(&remote).await.expect("an answer");
    assert_eq!(puppet.received("initialize"), 2);
}

#[tokio::test]
async fn a_request_from_before_the_connection_does_not_open_another_one() {
    let opened = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "late", "version": "1" },
    });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "replies": {
            "initialize": [
                { "error": { "code": -32000, "message": "not yet" } },
                { "wait_ms": 400, "result": opened },
            ],
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": [{ "result": { "content": [] } }],
        },
    }));
    let mut options = options();
    // The first attempt is always long enough ago for another one at once.
    options.retries.every = Duration::from_micros(1);
    let idle = Duration::from_millis(100);
    options.idle = Some(idle);
    let remote = RemoteServer::start("late", http(puppet.http().await), options);
    // The second attempt has begun.
    eventually("`initialize`", async || puppet.received("initialize") == 2).await;
    call(&remote).await.expect("an answer");
    eventually("the connection is idle", async || {
        matches!(remote.state(), State::Idle)
    })
    .await;
    others_are_idle(idle).await;
    assert_eq!(puppet.received("initialize"), 2);
}

#[tokio::test]
async fn an_error_of_the_lists_says_what_took_too_long() {
    let puppet = script(json!({
        "capabilities": { "tools": {} },
        "replies": { "tools/list": [{ "wait_ms": 60_000 }] },
    }));
    let mut options = options();
    options.connect = Duration::from_secs(1);
    options.timeout = Duration::from_millis(200);
    options.retries.most = Some(0);
    let remote = RemoteServer::start("slow", http(puppet.http().await), options);
    let error = remote.ready().await.expect_err("no lists");
    assert_eq!(error.why, "no response within 200ms");
}

#[tokio::test]
async fn a_result_above_the_limit_fails_its_call_and_keeps_the_process() {
    let mut options = options();
    options.limits.message = 1 << 20;
    options.timeout = Duration::from_secs(20);
    let remote = connected_with("big", child("long-message"), options).await;
    for _ in 0..2 {
        let error = call(&remote).await.expect_err("16 MiB");
        assert_eq!(
            error.to_string(),
            "remote `big` sent an invalid answer to `tools/call`: the server sent a message of more than 1048576 bytes, as \
             `limits.message` of the remote says"
        );
        assert!(matches!(remote.state(), State::Up));
    }
}
