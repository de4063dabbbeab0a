//! What servers report without being asked.

use std::time::Duration;

use mcp_servlet_client::{Era, ErrorKind, Event, Options, Session};
use puppet::Puppet;
use serde_json::{Value, json};

use crate::support::{ERAS, arrived, attach, attach_with, http_target};

/// The event that the scripts report.
fn updated() -> Event {
    let uri = "file:///log".to_owned();
    Event::ResourceUpdated { uri }
}

#[tokio::test]
async fn notifications_whose_parameters_are_no_object_end_nothing() {
    let odd = [json!([{ "data": 1 }]), json!("data"), json!(7), json!(true)];
    let methods = ["notifications/message", "notifications/resources/updated"];
    let before = methods.iter().flat_map(|method| {
        odd.iter()
            .map(move |params| json!({ "method": method, "params": params }))
    });
    let before: Vec<_> = before.collect();
    let reply = json!({ "before": before, "result": { "content": [] } });
    let script = json!({ "versions": ["2025-11-25"], "replies": { "tools/call": [reply] } });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let target = format!("http://{}/mcp", puppet.http().await);
    let http = Session::connect(&target.parse().expect("a URL")).await;
    let (reader, writer) = puppet.pipe();
    let pipe = Session::attach(reader, writer, &Options::new()).await;
    for session in [http.expect("a session"), pipe.expect("a session")] {
        let mut events = session.events();
        session.call("any", Value::Null).await.expect("a result");
        for _ in &before {
            let event = events.next().await.expect("an event");
            let event = event.expect("no gap");
            let is_empty = match &event {
                Event::Log { data, .. } => data.is_null(),
                Event::ResourceUpdated { uri } => uri.is_empty(),
                _ => false,
            };
            assert!(is_empty, "{event:?}");
        }
        session.ping().await.expect("the session goes on");
    }
}

#[tokio::test]
async fn a_resource_is_subscribed_to_before_2026_07_28() {
    let (session, puppet) = attach("watch").await;
    let mut events = session.watch(["file:///log"]).await.expect("events");
    session.call("change", Value::Null).await.expect("a result");
    let event = events.next().await.expect("an event");
    assert_eq!(event.expect("an update"), updated());
    session.unwatch("file:///log").await.expect("the end");
    let log = puppet.log();
    let subscription = log.iter().filter_map(|one| {
        let method = one["method"].as_str()?;
        method
            .starts_with("resources/")
            .then_some((method, &one["params"]["uri"]))
    });
    let uri = json!("file:///log");
    assert_eq!(
        subscription.collect::<Vec<_>>(),
        [
            ("resources/subscribe", &uri),
            ("resources/unsubscribe", &uri)
        ]
    );
}

#[tokio::test]
async fn a_subscription_lasts_as_long_as_its_events() {
    let (session, puppet) = attach("listen").await;
    let mut events = session.watch(["file:///log"]).await.expect("events");
    let listen = arrived(&puppet, "subscriptions/listen").await;
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///log"],
    });
    assert_eq!(listen["params"]["notifications"], filter);
    session.call("change", Value::Null).await.expect("a result");
    let event = events.next().await.expect("an event");
    assert_eq!(event.expect("an update"), updated());
    session.unwatch("file:///log").await.expect("nothing to do");
    assert_eq!(puppet.received("notifications/cancelled"), 0);
    drop(events);
    let cancelled = arrived(&puppet, "notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], listen["id"]);
}

#[tokio::test]
async fn events_that_are_not_read_are_lost_and_counted_but_the_subscription_goes_on() {
    let (session, puppet) = attach("listen").await;
    let mut events = session.watch(["file:///log"]).await.expect("events");
    for _ in 0..1100 {
        session.call("change", Value::Null).await.expect("a result");
    }
    let error = events.next().await.expect("an event").expect_err("a gap");
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error.message().starts_with("76 events were lost"),
        "{error}"
    );
    for _ in 0..1024 {
        let event = events.next().await.expect("an event");
        assert_eq!(event.expect("an update"), updated());
    }
    session.call("change", Value::Null).await.expect("a result");
    let event = events.next().await.expect("an event");
    assert_eq!(event.expect("an update"), updated());
    assert_eq!(puppet.received("notifications/cancelled"), 0);
}

#[tokio::test]
async fn a_subscription_that_the_server_ends_is_an_error() {
    let (session, _) = attach("listen-ends").await;
    let mut events = session.watch([""; 0]).await.expect("events");
    let event = events.next().await.expect("an event");
    assert_eq!(event.expect("a change"), Event::ToolsChanged);
    let error = events.next().await.expect("an event").expect_err("the end");
    assert_eq!(
        error.to_string(),
        "the server has ended the subscription: subscriptions/listen of `attached streams`; \
         list again what you need, and watch again"
    );
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_subscription_whose_stream_breaks_off_is_an_error() {
    let acknowledgment = json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": { "io.modelcontextprotocol/subscriptionId": "$id" },
            "notifications": { "toolsListChanged": true },
        },
    });
    let listen = json!({ "before": [acknowledgment], "wait_ms": 50, "cut": true });
    let script =
        json!({ "versions": ["2026-07-28"], "replies": { "subscriptions/listen": [listen] } });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let target = format!("http://{}/mcp", puppet.http().await);
    let session = Session::connect(&target.parse().expect("a URL")).await;
    let session = session.expect("a session");
    let mut events = session.watch([""; 0]).await.expect("events");
    let error = events.next().await.expect("an event").expect_err("the end");
    assert_eq!(error.kind(), ErrorKind::Connectivity, "{error}");
    assert!(events.next().await.is_none());
    session.ping().await.expect("the session goes on");
}

#[tokio::test]
async fn a_refusal_to_watch_is_the_error_of_the_server() {
    for era in ERAS {
        let (session, _) = attach_with("refuses-to-watch", &Options::new().era(era)).await;
        let error = session.watch(["file:///log"]).await.expect_err("an error");
        assert_eq!(error.kind(), ErrorKind::InvalidParams, "{era:?}: {error}");
        assert_eq!(error.message(), "no such resource");
        assert!(error.operation().is_some() && error.target().is_some());
    }
}

#[tokio::test]
async fn an_http_error_of_a_subscription_has_its_cause() {
    let (target, _) = http_target("refuses-http-to-watch").await;
    let session = Session::connect(&target).await.expect("a session");
    let error = session.watch(["file:///log"]).await.expect_err("an error");
    assert_eq!(error.http_status(), Some(503), "{error}");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
}

#[tokio::test]
async fn watching_has_the_time_of_a_request() {
    for era in ERAS {
        let options = Options::new()
            .era(era)
            .request_timeout(Duration::from_millis(50));
        let (session, puppet) = attach_with("never-subscribes", &options).await;
        let error = session.watch(["file:///log"]).await.expect_err("a timeout");
        assert_eq!(error.kind(), ErrorKind::RequestTimeout, "{era:?}");
        arrived(&puppet, "notifications/cancelled").await;
        assert_eq!(session.waiting(), 0);
    }
}

#[tokio::test]
async fn events_end_with_the_server() {
    for (era, script) in [
        (Era::Handshake, "watch-then-exit"),
        (Era::Stateless, "listen-then-exit"),
    ] {
        let (session, _) = attach_with(script, &Options::new().era(era)).await;
        let mut plain = session.events();
        let mut watched = session.watch(["file:///log"]).await.expect("events");
        session
            .call("any", Value::Null)
            .await
            .expect_err("it ended");
        for events in [&mut plain, &mut watched] {
            assert!(events.next().await.is_none(), "{era:?}");
        }
        assert!(session.events().next().await.is_none());
    }
}

#[tokio::test]
async fn events_end_with_the_session() {
    let (session, _) = attach("plain").await;
    let mut events = session.events();
    session.close().await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn the_level_of_the_log_is_sent() {
    let (session, puppet) = attach("plain").await;
    session.set_log_level("debug").await.expect("a level");
    let log = puppet.log();
    let request = log.iter().find(|one| one["method"] == "logging/setLevel");
    assert_eq!(request.expect("the request")["params"]["level"], "debug");
}
