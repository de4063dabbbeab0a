//! Clients of a server that is still loading its servlets.

use std::time::Duration;

use mcp_servlet_host::Introduction;
use mcp_servlet_server::{Plan, Service};
use serde_json::{Value, json};
use wire::message::{HANDSHAKE, initialize, initialized, numbered, request};

use crate::attached::attach;

/// Opens a session, lists the tools and returns both answers. `meanwhile` runs once the session is open.
async fn open_and_list(service: Service, meanwhile: impl FnOnce(&Service)) -> [Value; 2] {
    let (mut client, serving) = attach(&service);
    for message in [
        initialize(HANDSHAKE),
        initialized(),
        request("tools/list", json!({})),
        numbered(2, request("ping", json!({}))),
    ] {
        client.send(message).await;
    }
    let mut meanwhile = Some(meanwhile);
    let mut answers = [Value::Null, Value::Null, Value::Null];
    while answers.iter().any(Value::is_null) {
        let message = client.next().await;
        let Some(id) = message["id"].as_u64() else {
            continue;
        };
        answers[usize::try_from(id).expect("an id")] = message;
        if id == 2
            && let Some(meanwhile) = meanwhile.take()
        {
            meanwhile(&service);
        }
    }
    client.close().await;
    serving.await.expect("no panic").expect("a graceful end");
    let [opened, listed, _] = answers;
    [opened, listed]
}

async fn starting(startup: Duration) -> Service {
    let mut plan = Plan::without_servlets(Introduction::default());
    plan.options.startup = startup;
    Service::start(plan).await.expect("nothing to load")
}

fn assert_not_ready(answer: &Value, message: &str) {
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    assert_eq!(answer["error"]["message"], message);
    assert_eq!(answer["error"]["data"], json!({ "retry": true }));
}

const LONG: Duration = Duration::from_mins(10);

#[tokio::test]
async fn a_list_that_waits_too_long_is_empty() {
    let [opened, listed] = open_and_list(starting(Duration::ZERO).await, |_| ()).await;
    assert!(
        opened["result"]["capabilities"]["prompts"].is_object(),
        "{opened}"
    );
    assert_eq!(listed["result"]["tools"], json!([]), "{listed}");
}

#[tokio::test]
async fn a_list_waits_until_the_server_has_started() {
    let [_, listed] =
        open_and_list(starting(LONG).await, |service| service.server().started()).await;
    assert_eq!(listed["result"]["tools"], json!([]));
}

#[tokio::test]
async fn a_list_that_waits_does_not_keep_the_server_from_stopping() {
    let [_, listed] = open_and_list(starting(LONG).await, Service::begin_stop).await;
    assert_not_ready(&listed, "the server is stopping");
}
