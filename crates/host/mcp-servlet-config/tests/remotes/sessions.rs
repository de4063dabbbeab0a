//! A connection for each session of a client.

use std::time::Duration;

use mcp_servlet_client::{Command, Era, Session};
use mcp_servlet_remote::{RemoteOptions, Sessions};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};

use crate::support::{child, connected_with, http, options, script};
use crate::updates::{client, serve};

fn each(most: usize) -> RemoteOptions {
    let mut options = options();
    options.sessions = Sessions::Each { most };
    options
}

/// A server that counts its calls, and ends sessions when clients say so.
fn with_sessions() -> Puppet {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "sessions": {},
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": [{ "result": { "content": [] } }],
        },
    }))
}

async fn count(session: &Session) -> String {
    let result = session.call("r_t", json!({})).await.expect("a result");
    let result: Value = serde_json::from_str(result.raw.get()).expect("JSON");
    result["content"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_session_has_a_process_and_requests_without_sessions_share_one() {
    let remote = connected_with("r", child("counts"), each(10)).await;
    let (address, _server) = serve(&remote).await;
    let (one, other) = (
        client(address, Era::Handshake).await,
        client(address, Era::Handshake).await,
    );
    assert_eq!(count(&one).await, "1");
    assert_eq!(count(&one).await, "2");
    assert_eq!(count(&other).await, "1");
    let (first, second) = (
        client(address, Era::Stateless).await,
        client(address, Era::Stateless).await,
    );
    assert_eq!(count(&first).await, "1");
    assert_eq!(count(&second).await, "2");
    assert_eq!(count(&one).await, "3");
    remote.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_ends_with_its_session_and_makes_room_for_another() {
    let puppet = with_sessions();
    let ended = || {
        puppet
            .log()
            .iter()
            .filter(|one| one["http"] == "DELETE")
            .count()
    };
    let remote = connected_with("r", http(puppet.http().await), each(1)).await;
    let (address, _server) = serve(&remote).await;
    let (one, other) = (
        client(address, Era::Handshake).await,
        client(address, Era::Handshake).await,
    );
    one.call("r_t", json!({})).await.expect("a result");
    assert_eq!(puppet.received("initialize"), 2);
    let error = other.call("r_t", json!({})).await.expect_err("no room");
    assert_eq!(error.code(), Some(-32000));
    assert!(
        error
            .message()
            .contains("`most_sessions` is 1, and that many sessions already use it"),
        "{error}"
    );
    assert_eq!(ended(), 0);
    one.close().await;
    eventually("one end", async || ended() == 1).await;
    other.call("r_t", json!({})).await.expect("a result");
    assert_eq!(puppet.received("initialize"), 3);
    // The end of the remote ends all connections.
    remote.close().await;
    eventually("three ends", async || ended() == 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_request_opens_the_idle_connection_of_a_session_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let command = Command::new(puppet::program())
        .args(["counts", "--log"])
        .args([&log]);
    let mut options = each(10);
    options.idle = Some(Duration::from_millis(100));
    let remote = connected_with("r", command.into(), options).await;
    let (address, _server) = serve(&remote).await;
    let session = client(address, Era::Handshake).await;
    assert_eq!(count(&session).await, "1");
    // The process ends when nothing has used it for that time, and with it the count. It then writes its log.
    eventually("the end of the process", async || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        log.contains("tools/call")
    })
    .await;
    assert_eq!(count(&session).await, "1");
    remote.close().await;
}
