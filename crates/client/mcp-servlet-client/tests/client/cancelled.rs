//! Which requests over streamable HTTP are cancelled, and how long they count.

use std::time::Duration;

use mcp_servlet_client::{CallOptions, ErrorKind, Session};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};

use crate::support::{arrived, forgotten, url};

/// A session with a server whose calls get these replies, over streamable HTTP before 2026-07-28.
async fn legacy_session(calls: Value) -> (Session, Puppet) {
    let script = json!({ "versions": ["2025-11-25"], "replies": { "tools/call": calls } });
    let (url, puppet) = url(script).await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    (session.expect("a session"), puppet)
}

#[tokio::test]
async fn a_request_that_an_error_status_has_answered_is_not_cancelled() {
    let json = json!({ "content-type": "application/json" });
    let invalid = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
    for reply in [
        json!({ "status": 503 }),
        json!({ "status": 429 }),
        json!({ "status": 400, "headers": json, "body": invalid }),
        json!({ "status": 200, "headers": json, "body": "<html>" }),
    ] {
        let (session, puppet) = legacy_session(json!([reply])).await;
        session
            .call("any", Value::Null)
            .await
            .expect_err("an error");
        assert!(!session.has_cancelled(), "{reply}");
        session.ping().await.expect("the session goes on");
        assert_eq!(puppet.received("notifications/cancelled"), 0, "{reply}");
        assert_eq!(session.waiting(), 0);
    }
}

#[tokio::test]
async fn a_request_that_a_proxy_gave_up_is_cancelled() {
    let (session, puppet) = legacy_session(json!([{ "status": 504 }])).await;
    session
        .call("any", Value::Null)
        .await
        .expect_err("an error");
    arrived(&puppet, "notifications/cancelled").await;
    forgotten(&session).await;
}

#[tokio::test]
async fn a_cancelled_request_is_forgotten_because_its_response_is_not_read() {
    for sse in [false, true] {
        let slow = json!({ "sse": sse, "wait_ms": 60_000, "result": { "content": [] } });
        let (session, puppet) = legacy_session(json!([slow])).await;
        let options = CallOptions::new().timeout(Duration::from_millis(50));
        let error = session.call_with("any", Value::Null, &options).await;
        let error = error.expect_err("a timeout");
        assert_eq!(error.kind(), ErrorKind::RequestTimeout, "{error}");
        assert!(session.has_cancelled());
        arrived(&puppet, "notifications/cancelled").await;
        forgotten(&session).await;
    }
}

#[tokio::test]
async fn a_cancelled_request_counts_if_the_server_has_another_stream_for_it() {
    let script = json!({
        "versions": ["2025-11-25"],
        "has_common_stream": true,
        "replies": { "tools/call": [{}] },
    });
    let (url, puppet) = url(script).await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let session = session.expect("a session");
    eventually("the other stream", async || {
        puppet.log().contains(&json!({ "http": "GET" }))
    })
    .await;
    let options = CallOptions::new().timeout(Duration::from_millis(100));
    let error = session.call_with("any", Value::Null, &options).await;
    error.expect_err("a timeout");
    arrived(&puppet, "notifications/cancelled").await;
    // Without the other stream, it would be forgotten by now.
    session.ping().await.expect("an answer");
    assert!(session.has_cancelled());
}

#[tokio::test]
async fn a_request_whose_response_came_in_another_stream_is_read_no_longer() {
    let crossed = json!({
        "jsonrpc": "2.0",
        "id": "$params/arguments/id",
        "result": { "content": [{ "type": "text", "text": "first" }] },
    });
    let (session, puppet) = legacy_session(json!([
        { "sse": true, "wait_ms": 60_000, "result": { "content": [] } },
        { "sse": true, "before": [crossed], "result": { "content": [] } },
    ]))
    .await;
    let second = async {
        let first = arrived(&puppet, "tools/call").await;
        session.call("any", json!({ "id": first["id"] })).await
    };
    let (first, second) = tokio::join!(session.call("any", Value::Null), second);
    assert_eq!(first.expect("a result").text(), "first");
    second.expect("a result");
    arrived(&puppet, "notifications/cancelled").await;
    assert!(!session.has_cancelled());
    assert_eq!(session.waiting(), 0);
}
