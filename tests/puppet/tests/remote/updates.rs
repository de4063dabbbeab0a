//! Changes of single resources, from remotes to clients of both generations.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_client::{Era, Event, Events, Options, Session};
use mcp_servlet_remote::{RemoteServer, State};
use mcp_servlet_server::{HttpOptions, Plan, Service};
use puppet::Puppet;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{
    Mortal, PATIENCE, connected, connected_with, host, http, options, script, until,
};

const LOG: &str = "file:///log";
const GENERATIONS: [(&str, &str); 2] = [
    ("2025-11-25", "resources/subscribe"),
    ("2026-07-28", "subscriptions/listen"),
];

/// A server of this version, whose tool `t` reports a change of [`LOG`].
fn reporter(version: &str, subscribe: bool) -> Puppet {
    let id = |id: &str| json!({ "io.modelcontextprotocol/subscriptionId": id });
    let acknowledged = json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": id("$id"), "notifications": "$params/notifications" },
    });
    let updated = json!({
        "method": "notifications/resources/updated",
        "params": { "uri": LOG, "_meta": id("$subscription") },
    });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    script(json!({
        "versions": [version],
        "capabilities": { "tools": {}, "resources": { "subscribe": subscribe } },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "resources/list": [{ "result": { "resources": [{ "uri": LOG, "name": "log" }] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [] } }],
            "resources/subscribe": [{ "result": {} }],
            "resources/unsubscribe": [{ "result": {} }],
            "subscriptions/listen": [{ "before": [acknowledged], "wait_ms": 600_000 }],
            "tools/call": [{ "before": [updated], "result": { "content": [] } }],
        },
    }))
}

/// A server whose only member is this remote.
pub(crate) async fn serve(remote: &Arc<RemoteServer>) -> (SocketAddr, Service) {
    let mut plan = Plan::from_host(host([remote]));
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    let service = Service::start(plan).await.expect("a free port");
    let address = service.listeners()[0].address;
    (address, service)
}

pub(crate) async fn client(address: SocketAddr, era: Era) -> Session {
    let session = Session::connect_with(&http(address), &Options::new().era(era)).await;
    session.expect("a session")
}

/// The number of requests to report changes of [`LOG`].
fn subscriptions(puppet: &Puppet) -> usize {
    let of_log = |message: &&Value| {
        let params = &message["params"];
        let listens = params["notifications"]["resourceSubscriptions"] == json!([LOG]);
        message["method"] == "resources/subscribe" && params["uri"] == LOG || listens
    };
    puppet.log().iter().filter(of_log).count()
}

/// Waits for a change of [`LOG`].
async fn updated(events: &mut Events) {
    let update = Event::ResourceUpdated {
        uri: LOG.to_owned(),
    };
    let arrived =
        async { while events.next().await.expect("an event").ok() != Some(update.clone()) {} };
    timeout(PATIENCE, arrived).await.expect("an update");
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_pass_between_both_generations() {
    for (version, _) in GENERATIONS {
        for era in [Era::Handshake, Era::Stateless] {
            let puppet = reporter(version, true);
            let remote = connected("r", http(puppet.http().await)).await;
            let (address, _server) = serve(&remote).await;
            let session = client(address, era).await;
            let mut events = session.watch([LOG]).await.expect("events");
            until(|| subscriptions(&puppet) == 1).await;
            session.call("r_t", json!({})).await.expect("a result");
            updated(&mut events).await;
            assert_eq!(subscriptions(&puppet), 1, "{version} {era:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_at_the_remote_ends_with_the_last_client() {
    for (version, _) in GENERATIONS {
        let puppet = reporter(version, true);
        let remote = connected("r", http(puppet.http().await)).await;
        let (address, _server) = serve(&remote).await;
        let ended = || {
            let closed = |one: &&Value| one["http"] == "closed";
            let closed = puppet.log().iter().filter(closed).count();
            puppet.received("resources/unsubscribe") + closed
        };
        let (old, new) = (
            client(address, Era::Handshake).await,
            client(address, Era::Stateless).await,
        );
        old.watch([LOG]).await.expect("events");
        let events = new.watch([LOG]).await.expect("events");
        until(|| subscriptions(&puppet) == 1).await;
        drop(events);
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(ended(), 0, "{version}");
        // A session that ends has no subscriptions.
        old.close().await;
        until(|| ended() == 1).await;
        let again = client(address, Era::Handshake).await;
        again.watch([LOG]).await.expect("events");
        until(|| subscriptions(&puppet) == 2).await;
        again.unwatch(LOG).await.expect("the end");
        until(|| ended() == 2).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_connection_subscribes_again_and_reports_what_may_have_changed() {
    for (version, _) in GENERATIONS {
        let first_puppet = reporter(version, true);
        let mut first = Mortal::start(&first_puppet);
        let remote = connected("r", first.target()).await;
        let (address, _server) = serve(&remote).await;
        let session = client(address, Era::Stateless).await;
        let mut events = session.watch([LOG]).await.expect("events");
        until(|| subscriptions(&first_puppet) == 1).await;
        first.kill();
        // A server without a common stream is only missed by a request.
        session
            .call("r_t", json!({}))
            .await
            .expect_err("it is gone");
        until(|| !matches!(remote.state(), State::Up)).await;
        let puppet = reporter(version, true);
        let _second = Mortal::start_at(&puppet, first.address);
        until(|| subscriptions(&puppet) == 1).await;
        updated(&mut events).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_without_the_capability_is_not_asked() {
    for (version, method) in GENERATIONS {
        let puppet = reporter(version, false);
        let remote = connected("r", http(puppet.http().await)).await;
        let before = puppet.received(method);
        let (address, _server) = serve(&remote).await;
        let session = client(address, Era::Handshake).await;
        session.watch([LOG]).await.expect("events");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(puppet.received(method), before, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watched_resource_keeps_an_idle_remote_connected() {
    let puppet = reporter("2025-11-25", true);
    let mut options = options();
    options.idle = Some(Duration::from_millis(100));
    let remote = connected_with("r", http(puppet.http().await), options).await;
    let is_idle = || matches!(remote.state(), State::Idle);
    until(is_idle).await;
    let (address, _server) = serve(&remote).await;
    let session = client(address, Era::Handshake).await;
    session.watch([LOG]).await.expect("events");
    until(|| subscriptions(&puppet) == 1).await;
    // Longer than the time without use.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(!is_idle());
    session.unwatch(LOG).await.expect("the end");
    until(is_idle).await;
}

/// The resources of all subscriptions since 2026-07-28.
fn listened(puppet: &Puppet) -> Vec<Vec<Value>> {
    let log = puppet.log();
    let uris = |message: &Value| {
        let uris = &message["params"]["notifications"]["resourceSubscriptions"];
        uris.as_array().cloned()
    };
    log.iter().filter_map(uris).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_with_many_subscriptions_leave_room_for_others() {
    let puppet = reporter("2026-07-28", true);
    let remote = connected("r", http(puppet.http().await)).await;
    let (address, _server) = serve(&remote).await;
    let mut held = Vec::new();
    for name in ["one", "two"] {
        let greedy = client(address, Era::Stateless).await;
        let made_up = (0..1000).map(|number| format!("{name}:{number}"));
        held.push(greedy.watch(made_up).await.expect("events"));
    }
    // Longer than a request that the remote reads.
    let greedy = client(address, Era::Stateless).await;
    let long = format!("made-up:{}", "x".repeat(3 << 20));
    held.push(greedy.watch([long]).await.expect("events"));
    let other = client(address, Era::Handshake).await;
    let mut events = other.watch([LOG]).await.expect("events");
    let has_log = |uris: &Vec<Value>| uris.contains(&json!(LOG));
    until(|| listened(&puppet).iter().any(has_log)).await;
    other.call("r_t", json!({})).await.expect("a result");
    updated(&mut events).await;
    assert!(listened(&puppet).iter().all(|uris| uris.len() <= 500));
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_of_one_client_do_not_delay_those_of_others() {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "resources": { "subscribe": true } },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "resources/subscribe": [{ "wait_ms": 100, "result": {} }],
        },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    let (address, _server) = serve(&remote).await;
    let greedy = client(address, Era::Stateless).await;
    let made_up = (0..100).map(|number| format!("made-up:{number}"));
    let _held = greedy.watch(made_up).await.expect("events");
    until(|| puppet.received("resources/subscribe") > 0).await;
    let other = client(address, Era::Handshake).await;
    other.watch([LOG]).await.expect("events");
    // One after the other, they take ten seconds.
    until(|| subscriptions(&puppet) == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_that_got_no_answer_is_made_again() {
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "resources": { "subscribe": true } },
        "replies": {
            "resources/list": [{ "result": { "resources": [{ "uri": LOG, "name": "log" }] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [] } }],
            "resources/subscribe": [{ "status": 503 }, { "result": {} }],
        },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    let member = remote.member();
    let member = member.as_remote().expect("a remote").remote();
    let _log = member.watch_resource(LOG);
    until(|| puppet.received("resources/subscribe") == 1).await;
    let _other = member.watch_resource("a:other");
    until(|| puppet.received("resources/subscribe") == 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_replaces_another_one_has_its_subscriptions() {
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "resources": { "subscribe": true } },
        // The handshake, three lists, the subscription, and one call.
        "sessions": { "first_lasts": 7 },
        "replies": {
            "tools/list": [{ "result": { "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] } }],
            "tools/call": [{ "result": { "content": [] } }],
            "resources/list": [{ "result": { "resources": [{ "uri": LOG, "name": "log" }] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [] } }],
            "resources/subscribe": [{ "result": {} }],
        },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    let member = remote.member();
    let watch = member
        .as_remote()
        .expect("a remote")
        .remote()
        .watch_resource(LOG);
    until(|| puppet.received("resources/subscribe") == 1).await;
    let sessions = puppet.received("initialize");
    while puppet.received("initialize") == sessions {
        crate::support::call(&remote).await.expect("a result");
    }
    until(|| puppet.received("resources/subscribe") == 2).await;
    drop(watch);
}
