//! Cancelled requests: the call stops, and the next request is answered.

use std::{io::Write as _, net::TcpStream};

use mcp_servlet_call::Limit;
use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Instances, LoadOptions};
use mcp_servlet_server::ServeOptions;
use puppet::{PATIENCE, eventually_blocking};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};

use crate::{
    client::{Served, request, start, stateless},
    support::{DESCRIPTION, Wat},
};

/// A servlet with one instance and no timeout; requests with long arguments never end.
fn host() -> Host {
    host_with(1)
}

fn host_with(instances: usize) -> Host {
    let body = "(if (i64.gt_u (call $input_length) (i64.const 2000)) (then (loop $l (br $l))))
        (call $output {}) (i32.const 0)";
    let mut options = LoadOptions::default();
    options.instances = Instances {
        min: 1,
        max: instances,
        idle: None,
    }
    .into();
    options.limits.timeout = Limit::Unlimited;
    options.wait = Some(PATIENCE);
    let wat = Wat::new().describe(DESCRIPTION);
    let wat = wat.export("call", r#"{"content":[]}"#, body);
    let servlet = wat.load_with(&options).expect("a servlet");
    Host::new(vec![servlet])
}

/// The parameters of a call that never ends.
fn endless() -> Value {
    json!({"name": "t", "arguments": {"long": "x".repeat(2000)}})
}

fn cancelled(id: u64) -> Value {
    let params = json!({"requestId": id, "reason": "the user left"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

#[tokio::test]
async fn a_call_that_is_cancelled_over_a_pipe_stops_and_gets_no_answer() {
    let (client, pipe) = tokio::io::duplex(1 << 16);
    let service = start(host(), ServeOptions::default()).await;
    let (input, output) = tokio::io::split(pipe);
    let server = service.server().clone();
    let serving = tokio::spawn(async move { server.serve_stream(input, output).await });
    let (reader, mut writer) = tokio::io::split(client);
    let second = stateless("tools/call", json!({"name": "t"})).replace("\"id\":1", "\"id\":2");
    let messages = [
        stateless("tools/call", endless()),
        cancelled(1).to_string(),
        second,
    ];
    for message in messages {
        let line = format!("{message}\n");
        writer.write_all(line.as_bytes()).await.expect("a write");
    }
    let mut lines = tokio::io::BufReader::new(reader).lines();
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
    let line = line.expect("the instance is free").expect("a read");
    let answer: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
    assert_eq!(
        (&answer["id"], &answer["result"]["content"]),
        (&json!(2), &json!([]))
    );
    writer.shutdown().await.expect("a close");
    serving.await.expect("no panic").expect("a graceful end");
}

/// Waits until a call is running.
fn running(served: &Served) {
    running_are(served, 1);
}

/// Waits until this many calls are running.
fn running_are(served: &Served, calls: usize) {
    let metric = format!("servlet_calls_running {calls}\n");
    eventually_blocking(&metric, || served.service.metrics().contains(&metric));
}

#[test]
fn a_call_that_is_cancelled_in_a_session_stops() {
    let served = Served::start(host());
    let session = served.open();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let endless = request("tools/call", endless());
            served.in_session(&session, &endless)
        });
        running(&served);
        assert_eq!(served.in_session(&session, &cancelled(1)).status, 202);
        let mut next = request("tools/call", json!({"name": "t"}));
        next["id"] = 2.into();
        let next = served.in_session(&session, &next);
        assert_eq!(next.message()["result"]["content"], json!([]));
        let answer = waiting.join().expect("an end of the stream");
        assert_eq!(answer.messages(), [] as [Value; 0]);
    });
}

/// Sends a request on a connection of its own.
fn begin(served: &Served, headers: &str, body: &str) -> TcpStream {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(&served.address).expect("a connection");
    stream
        .write_all((head + body).as_bytes())
        .expect("a request");
    stream
}

#[test]
fn a_client_that_hangs_up_stops_its_call() {
    let served = Served::start(host());
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: t\r\n";
    let stream = begin(&served, headers, &stateless("tools/call", endless()));
    running(&served);
    drop(stream);
    let next = served.ask("tools/call", json!({"name": "t"}));
    assert_eq!(next.message()["result"]["content"], json!([]));
}

#[test]
fn calls_with_the_same_id_stop_one_by_one() {
    let served = Served::start(host_with(3));
    let session = served.open();
    let headers = format!("mcp-session-id: {session}\r\n");
    let call = |id: u64, params| {
        let mut call = request("tools/call", params);
        call["id"] = id.into();
        call
    };
    let begin = |id| begin(&served, &headers, &call(id, endless()).to_string());
    let first = begin(1);
    let _second = begin(1);
    let _other = begin(2);
    running_are(&served, 3);
    // The server cannot know which one is meant.
    assert_eq!(served.in_session(&session, &cancelled(1)).status, 202);
    // A later cancellation stops its call, and the next call has run, before this is known to have stopped none.
    assert_eq!(served.in_session(&session, &cancelled(2)).status, 202);
    running_are(&served, 2);
    let next = served.in_session(&session, &call(3, json!({"name": "t"})));
    assert_eq!(next.message()["result"]["content"], json!([]));
    running_are(&served, 2);
    drop(first);
    running_are(&served, 1);
    eventually_blocking("the call stops", || {
        assert_eq!(served.in_session(&session, &cancelled(1)).status, 202);
        let metrics = served.service.metrics();
        metrics.contains("servlet_calls_running 0\n")
    });
}
