//! Sessions over streamable HTTP that the server forgets.

use mcp_servlet_client::{ErrorKind, Event, Session};
use serde_json::{Value, json};

use crate::support::{connect_http, url};

#[tokio::test]
async fn an_expired_session_is_renewed_once() {
    let (session, puppet) = connect_http("expires").await;
    let result = session.call("any", Value::Null).await.expect("a result");
    assert_eq!(result.text(), "again");
    assert_eq!(puppet.received("initialize"), 2);
    assert_eq!(puppet.received("tools/call"), 1);
}

#[tokio::test]
async fn a_renewed_session_is_an_event() {
    let (session, puppet) = connect_http("expires").await;
    let mut events = session.events();
    for _ in 0..2 {
        session.call("any", Value::Null).await.expect("a result");
    }
    let event = events.next().await.expect("an event");
    assert_eq!(event.expect("a new session"), Event::SessionRenewed);
    session.close().await;
    assert!(events.next().await.is_none(), "it is renewed once");
    assert_eq!(puppet.received("initialize"), 2);
}

#[tokio::test]
async fn a_session_that_cannot_be_renewed_is_renewed_by_a_later_request() {
    let initialized = json!({ "result": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": { "name": "s", "version": "1" },
    } });
    let script = json!({
        "versions": ["2025-11-25"],
        "sessions": { "first_lasts": 1, "others_last": null },
        "replies": { "initialize": [initialized, { "status": 503 }, initialized] },
    });
    let (url, puppet) = url(script).await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let session = session.expect("a session");
    let mut events = session.events();
    let error = session.ping().await.expect_err("no new session");
    assert_eq!(error.http_status(), Some(503), "{error}");
    assert!(!session.has_ended());
    session.ping().await.expect("an answer");
    let event = events.next().await.expect("an event");
    assert_eq!(event.expect("a new session"), Event::SessionRenewed);
    assert_eq!(puppet.received("initialize"), 3);
    assert_eq!(session.waiting(), 0);
}

#[tokio::test]
async fn a_session_that_expires_again_is_invalid() {
    let (session, puppet) = connect_http("expires-always").await;
    let error = session
        .call("any", Value::Null)
        .await
        .expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::SessionInvalid, "{error}");
    assert_eq!(error.kind().exit_code(), 22);
    assert_eq!(puppet.received("tools/call"), 0);
}
