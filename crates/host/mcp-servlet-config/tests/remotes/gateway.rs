//! Remotes behind a server, with clients of both generations.

use std::sync::Arc;

use mcp_servlet_client::{CallOptions, Era, Options, Session};
use mcp_servlet_server::{HttpOptions, Plan, Service};
use puppet::{Puppet, eventually};
use serde_json::{Value, json};
use std::time::Duration;

use crate::client::Oslo;
use crate::support::{connected, host, http, with_calls};

/// A client of a server whose only member is this remote.
async fn client(puppet: &Puppet, era: Era) -> (Session, Service) {
    let remote = connected("r", http(puppet.http().await)).await;
    let mut plan = Plan::from_host(host([&remote]));
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    let service = Service::start(plan).await.expect("a free port");
    let address = service.listeners()[0].address;
    let options = Options::new().era(era).answers(Oslo);
    let session = Session::connect_with(&http(address), &options).await;
    (session.expect("a session"), service)
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_reach_clients_of_both_generations() {
    let answer = json!({ "action": "accept", "content": { "city": "Oslo" } });
    for era in [Era::Handshake, Era::Stateless] {
        let (session, _server) = client(&Puppet::new("elicits"), era).await;
        let result = session.call("r_t", json!({})).await.expect("a result");
        let result: Value = serde_json::from_str(result.raw.get()).expect("JSON");
        assert_eq!(result["structuredContent"]["answer"], answer, "{era:?}");
        let (session, _server) = client(&Puppet::new("input-required"), era).await;
        let result = session.call("r_t", json!({})).await.expect("a result");
        let result: Value = serde_json::from_str(result.raw.get()).expect("JSON");
        let responses = &result["structuredContent"]["params"]["inputResponses"];
        assert_eq!(responses["city"], answer, "{era:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_cancellation_pass_for_both_generations() {
    for era in [Era::Handshake, Era::Stateless] {
        let slow = json!([{ "ticks": 2, "wait_ms": 60_000, "result": { "content": [] } }]);
        let puppet = with_calls(&["2025-11-25"], slow);
        let (session, _server) = client(&puppet, era).await;
        let reports = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = Arc::clone(&reports);
        let options = CallOptions::new().on_progress(move |_| {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        let call = session.call_with("r_t", json!({}), &options);
        let waited = tokio::time::timeout(Duration::from_secs(1), call).await;
        waited.expect_err("it is slow");
        assert!(
            reports.load(std::sync::atomic::Ordering::Relaxed) > 0,
            "{era:?}"
        );
        eventually("`notifications/cancelled`", async || {
            puppet.received("notifications/cancelled") == 1
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_errors_of_a_remote_reach_the_client() {
    let replies =
        json!([{ "error": { "code": -32602, "message": "no such city", "data": { "k": 1 } } }]);
    let puppet = with_calls(&["2026-07-28"], replies);
    let (session, _server) = client(&puppet, Era::Auto).await;
    let lists = session.lists().await.expect("lists");
    assert_eq!(lists.tools.expect("tools").len(), 1);
    let error = session.call("r_t", json!({})).await.expect_err("an error");
    assert_eq!(
        (error.code(), error.message()),
        (Some(-32602), "no such city")
    );
    assert_eq!(error.data(), Some(&json!({ "k": 1 })));
}
