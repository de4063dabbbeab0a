//! Sessions over HTTP+SSE.

use std::error::Error as _;
use std::time::Duration;

use mcp_servlet_client::{CallOptions, Era, ErrorKind, Http, HttpTransport, Options, Session};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{arrived, attach_with, ends_during_a_call, lists_json};

async fn sse(script: &str) -> (Http, Puppet) {
    let puppet = Puppet::new(script);
    (sse_target(&puppet).await, puppet)
}

async fn sse_target(puppet: &Puppet) -> Http {
    let address = puppet.http().await;
    let http = Http::new(&format!("http://{address}")).expect("a URL");
    http.transport(HttpTransport::Sse)
}

/// A server whose POSTs with this method fail after 50 ms. Its calls get these replies.
fn failing_posts(method: &str, status: u16, calls: Value) -> Puppet {
    let script = json!({
        "versions": ["2025-11-25"],
        "fails_on_post": { "method": method, "wait_ms": 50, "status": status },
        "replies": { "tools/call": calls },
    });
    Puppet::with(serde_json::from_value(script).expect("a script"))
}

/// Waits until this many POSTs have failed, and until the client has had the answer to a later one.
async fn failed(session: &Session, puppet: &Puppet, status: u16, posts: usize) {
    let entry = json!({ "http": status.to_string() });
    eventually(&entry, async || {
        puppet.log().iter().filter(|one| **one == entry).count() >= posts
    })
    .await;
    session.ping().await.expect("the session goes on");
}

#[tokio::test]
async fn lists_over_sse_are_those_over_streams() {
    for script in ["plain", "exact", "five-pages", "odd-capabilities"] {
        let (http, _) = sse(script).await;
        let session = Session::connect(&http.into()).await.expect("a session");
        let (pipe, _) = attach_with(script, &Options::new().era(Era::Handshake)).await;
        assert_eq!(
            lists_json(&session).await,
            lists_json(&pipe).await,
            "{script}"
        );
        session.close().await;
    }
}

#[tokio::test]
async fn a_call_over_sse_has_a_result() {
    let (http, _) = sse("plain").await;
    let session = Session::connect(&http.into()).await.expect("a session");
    let result = session.call("weather", json!({ "city": "Oslo" })).await;
    assert_eq!(result.expect("a result").text(), "Oslo");
}

#[tokio::test]
async fn a_server_without_streamable_http_is_found_at_its_url() {
    let (http, puppet) = sse("plain").await;
    let address = http_address(&http);
    let url = format!("http://{address}/sse");
    let http = Http::new(&url).expect("a URL");
    let session = Session::connect(&http.clone().into())
        .await
        .expect("a session");
    assert_eq!(session.server().protocol, "2025-11-25");
    assert_eq!(puppet.received("initialize"), 1);
    let only = http.transport(HttpTransport::Streamable);
    let error = Session::connect(&only.into())
        .await
        .expect_err("no streamable HTTP");
    assert_eq!(error.http_status(), Some(405));
}

fn http_address(http: &Http) -> String {
    let target = mcp_servlet_client::Target::from(http.clone()).to_string();
    let rest = target.trim_start_matches("http://");
    rest.split('/').next().expect("an address").to_owned()
}

#[tokio::test]
async fn messages_never_go_to_another_origin() {
    let (http, puppet) = sse("sse-foreign-endpoint").await;
    let error = Session::connect(&http.into()).await.expect_err("an error");
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(
        error.message().contains("`http://127.0.0.2:9/messages`"),
        "{error}"
    );
    assert_eq!(puppet.received("initialize"), 0);
}

#[tokio::test]
async fn an_endpoint_may_be_a_whole_url() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    let script = json!({ "endpoint": format!("http://{address}/messages/1") });
    let foreign = Puppet::with(serde_json::from_value(script).expect("a script"));
    let foreign_address = foreign.http().await;
    let http = Http::new(&format!("http://{foreign_address}")).expect("a URL");
    let error = Session::connect(&http.transport(HttpTransport::Sse).into()).await;
    assert_eq!(error.expect_err("another port").kind(), ErrorKind::Protocol);
}

#[tokio::test]
async fn a_stream_that_ends_is_a_broken_connection() {
    let (http, puppet) = sse("dies-in-call").await;
    let session = Session::connect(&http.into()).await.expect("a session");
    ends_during_a_call(&session, &puppet).await;
}

#[tokio::test]
async fn a_url_without_events_is_refused() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    let http = Http::new(&format!("http://{address}/mcp")).expect("a URL");
    let error = Session::connect(&http.transport(HttpTransport::Sse).into()).await;
    let error = error.expect_err("no events");
    assert_eq!(error.http_status(), Some(405));
    assert!(
        error.help().is_some_and(|help| help.contains("`/sse`")),
        "{error}"
    );
}

#[tokio::test]
async fn a_post_without_a_response_blocks_no_other_message() {
    let (http, puppet) = sse("hangs-on-post").await;
    let session = Session::connect(&http.into()).await.expect("a session");
    tokio::select! {
        _ = session.call("any", Value::Null) => panic!("it never answers"),
        _ = arrived(&puppet, "tools/call") => {}
    }
    arrived(&puppet, "notifications/cancelled").await;
    session.ping().await.expect("an answer");
}

#[tokio::test]
async fn a_post_that_fails_after_the_answer_ends_nothing() {
    let done = json!({ "result": { "content": [{ "type": "text", "text": "done" }] } });
    let puppet = failing_posts("tools/call", 504, json!([done, {}, done]));
    let session = Session::connect(&sse_target(&puppet).await.into()).await;
    let session = session.expect("a session");
    let options = CallOptions::new().timeout(Duration::from_millis(10));
    let call = async || session.call("any", Value::Null).await;
    assert_eq!(call().await.expect("a result").text(), "done");
    failed(&session, &puppet, 504, 1).await;
    // The second call has timed out before its POST fails.
    let timed_out = session.call_with("any", Value::Null, &options).await;
    let error = timed_out.expect_err("a timeout");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout, "{error}");
    failed(&session, &puppet, 504, 2).await;
    assert_eq!(call().await.expect("a result").text(), "done");
    assert!(!session.has_ended());
    assert_eq!(puppet.received("initialize"), 1);
}

#[tokio::test]
async fn a_post_that_fails_before_the_answer_ends_its_request_only() {
    let puppet = failing_posts("tools/call", 503, json!([{}]));
    let session = Session::connect(&sse_target(&puppet).await.into()).await;
    let session = session.expect("a session");
    for _ in 0..2 {
        let error = session.call("any", Value::Null).await;
        let error = error.expect_err("a failed POST");
        assert_eq!(error.http_status(), Some(503), "{error}");
        assert!(!session.has_cancelled());
        session.ping().await.expect("the session goes on");
    }
    assert_eq!(session.waiting(), 0);
    assert_eq!(puppet.received("notifications/cancelled"), 0);
}

#[tokio::test]
async fn a_handshake_whose_post_fails_is_an_error_at_once() {
    let script = json!({
        "versions": ["2025-11-25"],
        "fails_on_post": { "method": "initialize", "wait_ms": 0, "status": 503 },
        "replies": { "initialize": [{}] },
    });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let target = sse_target(&puppet).await.into();
    let connecting = timeout(Duration::from_secs(5), Session::connect(&target)).await;
    let error = connecting.expect("an end").expect_err("no session");
    assert_eq!(error.http_status(), Some(503), "{error}");
}

#[tokio::test]
async fn a_url_where_neither_transport_works_has_both_causes() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    let http = Http::new(&format!("http://{address}/elsewhere")).expect("a URL");
    let error = Session::connect(&http.into()).await.expect_err("neither");
    assert_eq!(error.http_status(), Some(404));
    assert_eq!(
        error.message(),
        "the server answered with HTTP 404 Not Found, and over HTTP+SSE: the server answered with HTTP 404 Not Found"
    );
    assert!(error.source().is_some());
}
