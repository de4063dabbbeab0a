//! Clients of a server that is still loading its servlets.

use std::time::Duration;

use mcp_servlet_host::Introduction;
use mcp_servlet_server::{Plan, Service};
use puppet::PATIENCE;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    time::timeout,
};

/// Opens a session, lists the tools and returns both answers. `meanwhile` runs once the session is open.
async fn open_and_list(service: Service, meanwhile: impl FnOnce(&Service)) -> [Value; 2] {
    let (client, other) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(other);
    let serving = {
        let server = service.server().clone();
        tokio::spawn(async move { server.serve_stream(reader, writer).await })
    };
    let (reader, mut writer) = tokio::io::split(client);
    let mut lines = BufReader::new(reader).lines();
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" },
    });
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let text = format!("{open}\n{ready}\n{list}\n{ping}\n");
    writer.write_all(text.as_bytes()).await.expect("a write");
    let mut meanwhile = Some(meanwhile);
    let mut answers = [Value::Null, Value::Null, Value::Null];
    while answers.iter().any(Value::is_null) {
        let line = timeout(PATIENCE, lines.next_line()).await.expect("a line");
        let line = line.expect("a read").expect("a line");
        let message: Value = serde_json::from_str(&line).expect("JSON");
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
    writer.shutdown().await.expect("a close");
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
