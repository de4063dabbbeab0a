//! Changes of single resources, from remotes to clients of both generations.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_client::{Era, Event, Events, Options, Session};
use mcp_servlet_remote::{RemoteServer, State};
use mcp_servlet_server::{HttpOptions, Plan, Service};
use puppet::{PATIENCE, Puppet, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{
    Mortal, connected, connected_with, host, http, options, others_are_idle, script,
};

const LOG: &str = "file:///log";
const OTHER: &str = "file:///other";
const GENERATIONS: [(&str, &str); 2] = [
    ("2025-11-25", "resources/subscribe"),
    ("2026-07-28", "subscriptions/listen"),
];

/// A server of this version, whose tool `t` reports a change of [`LOG`].
fn reporter(version: &str, subscribe: bool) -> Puppet {
    reporter_of(LOG, version, subscribe)
}

/// The same for another resource.
fn reporter_of(uri: &str, version: &str, subscribe: bool) -> Puppet {
    reporter_in(uri, uri, version, subscribe)
}

/// A server with a resource, whose tool `t` reports a change of `changed`.
fn reporter_in(uri: &str, changed: &str, version: &str, subscribe: bool) -> Puppet {
    let id = |id: &str| json!({ "io.modelcontextprotocol/subscriptionId": id });
    let acknowledged = json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": id("$id"), "notifications": "$params/notifications" },
    });
    let updated = json!({
        "method": "notifications/resources/updated",
        "params": { "uri": changed, "_meta": id("$subscription") },
    });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    script(json!({
        "versions": [version],
        "capabilities": { "tools": {}, "resources": { "subscribe": subscribe } },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "resources/list": [{ "result": { "resources": [{ "uri": uri, "name": "r" }] } }],
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
    serve_all([remote]).await
}

/// A server whose members are these remotes.
async fn serve_all<const N: usize>(remotes: [&Arc<RemoteServer>; N]) -> (SocketAddr, Service) {
    let mut plan = Plan::from_host(host(remotes));
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    let service = Service::start(plan).await.expect("a free port");
    let address = service.listeners()[0].address;
    (address, service)
}

pub(crate) async fn client(address: SocketAddr, era: Era) -> Session {
    let session = Session::connect_with(&http(address), &Options::new().era(era)).await;
    session.expect("a session")
}

/// The number of requests to report changes of [`LOG`] or [`OTHER`].
fn subscriptions(puppet: &Puppet) -> usize {
    let of_one = |message: &&Value, uri: &str| {
        let params = &message["params"];
        let listens = params["notifications"]["resourceSubscriptions"] == json!([uri]);
        message["method"] == "resources/subscribe" && params["uri"] == uri || listens
    };
    let log = puppet.log();
    let found = log
        .iter()
        .filter(|one| of_one(one, LOG) || of_one(one, OTHER));
    found.count()
}

/// The number of such requests that were ended.
fn ends(puppet: &Puppet) -> usize {
    let closed = |one: &&Value| one["http"] == "closed";
    let closed = puppet.log().iter().filter(closed).count();
    puppet.received("resources/unsubscribe") + closed
}

/// Subscribes to [`OTHER`], and ends the subscription, twice. This is a server with nothing else.
async fn watch_other(session: &Session, puppet: &Puppet) {
    for number in 1..=2 {
        session.watch([OTHER]).await.expect("events");
        eventually("a subscription", async || subscriptions(puppet) == number).await;
        session.unwatch(OTHER).await.expect("the end");
        eventually("its end", async || ends(puppet) == number).await;
    }
}

/// Waits for a change of [`LOG`].
async fn updated(events: &mut Events) {
    updated_of(LOG, events).await;
}

async fn updated_of(uri: &str, events: &mut Events) {
    let update = Event::ResourceUpdated {
        uri: uri.to_owned(),
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
            eventually("a subscription", async || subscriptions(&puppet) == 1).await;
            session.call("r_t", json!({})).await.expect("a result");
            updated(&mut events).await;
            assert_eq!(subscriptions(&puppet), 1, "{version} {era:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_part_of_a_resource_is_one_of_the_resource() {
    const PART: &str = "file:///log/1";
    for (version, _) in GENERATIONS {
        let puppet = reporter_in(LOG, PART, version, true);
        let remote = connected("r", http(puppet.http().await)).await;
        let (address, _server) = serve(&remote).await;
        let session = client(address, Era::Handshake).await;
        let mut events = session.watch([LOG]).await.expect("events");
        eventually("a subscription", async || subscriptions(&puppet) == 1).await;
        session.call("r_t", json!({})).await.expect("a result");
        updated_of(PART, &mut events).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_at_the_remote_ends_with_the_last_client() {
    for (version, _) in GENERATIONS {
        let puppet = reporter(version, true);
        let remote = connected("r", http(puppet.http().await)).await;
        let others = reporter_of(OTHER, version, true);
        let other = connected("other", http(others.http().await)).await;
        let (address, _server) = serve_all([&remote, &other]).await;
        let (old, new) = (
            client(address, Era::Handshake).await,
            client(address, Era::Stateless).await,
        );
        old.watch([LOG]).await.expect("events");
        let events = new.watch([LOG, OTHER]).await.expect("events");
        eventually("a subscription", async || subscriptions(&puppet) == 1).await;
        eventually("the other subscription", async || {
            subscriptions(&others) == 1
        })
        .await;
        drop(events);
        eventually("its end", async || ends(&others) == 1).await;
        // So the end of this one would have come, too.
        old.watch([OTHER]).await.expect("events");
        eventually("it begins again", async || subscriptions(&others) == 2).await;
        assert_eq!(ends(&puppet), 0, "{version}");
        // A session that ends has no subscriptions.
        old.close().await;
        eventually("one end", async || ends(&puppet) == 1).await;
        let again = client(address, Era::Handshake).await;
        again.watch([LOG]).await.expect("events");
        eventually("another subscription", async || subscriptions(&puppet) == 2).await;
        again.unwatch(LOG).await.expect("the end");
        eventually("two ends", async || ends(&puppet) == 2).await;
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
        eventually("a subscription", async || subscriptions(&first_puppet) == 1).await;
        first.kill();
        // A server without a common stream is only missed by a request.
        session
            .call("r_t", json!({}))
            .await
            .expect_err("it is gone");
        eventually("the server is missed", async || {
            !matches!(remote.state(), State::Up)
        })
        .await;
        let puppet = reporter(version, true);
        let _second = Mortal::start_at(&puppet, first.address);
        eventually("a subscription", async || subscriptions(&puppet) == 1).await;
        updated(&mut events).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_without_the_capability_is_not_asked() {
    for (version, method) in GENERATIONS {
        let puppet = reporter(version, false);
        let remote = connected("r", http(puppet.http().await)).await;
        let before = puppet.received(method);
        let others = reporter_of(OTHER, version, true);
        let other = connected("other", http(others.http().await)).await;
        let (address, _server) = serve_all([&remote, &other]).await;
        let session = client(address, Era::Handshake).await;
        session.watch([LOG]).await.expect("events");
        // The server subscribes at the other remote after it would have done so at this one.
        watch_other(&session, &others).await;
        assert_eq!(puppet.received(method), before, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watched_resource_keeps_an_idle_remote_connected() {
    let puppet = reporter("2025-11-25", true);
    let idle = Duration::from_millis(100);
    let mut options = options();
    options.idle = Some(idle);
    let remote = connected_with("r", http(puppet.http().await), options).await;
    let is_idle = || matches!(remote.state(), State::Idle);
    eventually("the connection is idle", async || is_idle()).await;
    let (address, _server) = serve(&remote).await;
    let session = client(address, Era::Handshake).await;
    session.watch([LOG]).await.expect("events");
    eventually("a subscription", async || subscriptions(&puppet) == 1).await;
    others_are_idle(idle).await;
    assert!(!is_idle());
    session.unwatch(LOG).await.expect("the end");
    eventually("the connection is idle", async || is_idle()).await;
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
    eventually("a subscription", async || {
        listened(&puppet).iter().any(has_log)
    })
    .await;
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
    eventually("`resources/subscribe`", async || {
        puppet.received("resources/subscribe") > 0
    })
    .await;
    let other = client(address, Era::Handshake).await;
    other.watch([LOG]).await.expect("events");
    // One after the other, they take ten seconds.
    eventually("a subscription", async || subscriptions(&puppet) == 1).await;
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
    eventually("`resources/subscribe`", async || {
        puppet.received("resources/subscribe") == 1
    })
    .await;
    let _other = member.watch_resource("a:other");
    eventually("`resources/subscribe`", async || {
        puppet.received("resources/subscribe") == 3
    })
    .await;
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
    eventually("`resources/subscribe`", async || {
        puppet.received("resources/subscribe") == 1
    })
    .await;
    let sessions = puppet.received("initialize");
    eventually("another session", async || {
        crate::support::call(&remote).await.expect("a result");
        puppet.received("initialize") > sessions
    })
    .await;
    eventually("`resources/subscribe`", async || {
        puppet.received("resources/subscribe") == 2
    })
    .await;
    drop(watch);
}
