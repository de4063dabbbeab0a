//! Clients that disconnect: their calls stop, and the server does not wait for them.

use std::{net::SocketAddr, time::Duration};

use mcp_servlet_call::Limit;
use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Instances, LoadOptions};
use mcp_servlet_server::{HttpOptions, Plan, ServeOptions, Service};
use puppet::{PATIENCE, eventually, eventually_blocking};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use wire::{
    Http, Pipe,
    message::{HANDSHAKE, initialize, stateless},
};

use crate::{
    attached::attach,
    client::{Served, start},
    support::{DESCRIPTION, Wat},
};

/// A servlet with one instance and no timeout; requests with long arguments never end.
fn host() -> Host {
    let body = "(if (i64.gt_u (call $input_length) (i64.const 2000)) (then (loop $l (br $l))))
        (call $output {}) (i32.const 0)";
    let mut options = LoadOptions::default();
    options.instances = Instances::ONE.into();
    options.limits.timeout = Limit::Unlimited;
    options.wait = Some(PATIENCE);
    let wat = Wat::new().describe(DESCRIPTION);
    let wat = wat.export("call", r#"{"content":[]}"#, body);
    Host::new(vec![wat.load_with(&options).expect("a servlet")])
}

/// The parameters of a call that never ends.
fn endless() -> Value {
    json!({"name": "t", "arguments": {"long": "x".repeat(2000)}})
}

fn is_running(service: &Service) -> bool {
    service.metrics().contains("servlet_calls_running 1")
}

#[test]
fn the_end_of_a_session_stops_its_calls() {
    let served = Served::start(host());
    let session = served.open();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| session.ask("tools/call", endless()));
        eventually_blocking("the call runs", || is_running(&served.service));
        assert_eq!(session.delete().status(), 204);
        // It has the only instance once the endless call is stopped.
        let next = served.ask("tools/call", json!({"name": "t"}));
        assert_eq!(next.message()["result"]["content"], json!([]));
        let unanswered = call.join().expect("no panic");
        assert_eq!(
            (unanswered.status(), unanswered.text()),
            (404, "the session has ended\n")
        );
    });
}

/// A call since 2026-07-28.
fn call(params: Value) -> Value {
    stateless("tools/call", params)
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_hold_up_a_stop() {
    let text = "x".repeat(20_000);
    let result = json!({"content": [{"type": "text", "text": text}]}).to_string();
    let wat = Wat::new().describe(DESCRIPTION).answer(&result);
    let servlet = wat.load_with(&LoadOptions::default()).expect("a servlet");
    let service = start(Host::new(vec![servlet]), ServeOptions::default()).await;
    let mut pipe = Pipe::new(service.server().open_pipe());
    // Together, the results are more than the pipe takes.
    for number in 1..=4 {
        pipe.send(call(json!({"name": "t"}))).await;
        let ended = format!("outcome=\"ok\"}} {number}");
        eventually(&ended, async || service.metrics().contains(&ended)).await;
    }
    let stopped = tokio::time::timeout(PATIENCE, service.stop()).await;
    stopped.expect("an end").expect("a graceful end");
}

#[tokio::test]
async fn closed_input_ends_the_connection_while_a_call_runs() {
    let service = start(host(), ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    client.send(call(endless())).await;
    eventually("the call runs", async || is_running(&service)).await;
    client.close().await;
    let ended = tokio::time::timeout(PATIENCE, serving).await;
    ended
        .expect("an end")
        .expect("no panic")
        .expect("a graceful end");
    let stopped = async || !is_running(&service);
    eventually("the call is stopped", stopped).await;
}

#[tokio::test]
async fn closed_input_still_gets_responses_that_are_soon_ready() {
    let service = start(host(), ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    client.send(call(json!({"name": "t"}))).await;
    client.close().await;
    assert_eq!(client.next().await["result"]["content"], json!([]));
    serving.await.expect("no panic").expect("a graceful end");
}

#[tokio::test]
async fn client_that_closes_its_output_is_disconnected() {
    let service = start(host(), ServeOptions::default()).await;
    let (mut input, reader) = tokio::io::duplex(1 << 16);
    let (writer, output) = tokio::io::duplex(1 << 16);
    drop(output);
    let line = format!("{}\n", call(json!({"name": "t"})));
    input.write_all(line.as_bytes()).await.expect("a write");
    let serving = service.server().serve_stream(reader, writer);
    let ended = tokio::time::timeout(PATIENCE, serving).await;
    ended.expect("an end").expect("a graceful end");
}

/// A plan with a listener on a free port.
fn over_http() -> Plan {
    let mut plan = Plan::from_host(host());
    plan.transports.http = Some(("127.0.0.1:0".to_owned(), HttpOptions::default()));
    plan.options.drain = Duration::from_millis(10);
    plan
}

async fn send_text(address: SocketAddr, text: &str) -> TcpStream {
    let mut client = TcpStream::connect(address).await.expect("a connection");
    client.write_all(text.as_bytes()).await.expect("a write");
    client
}

/// Clients of all kinds: one whose request never ends, one whose call never ends, one with a session, and one with a pipe.
async fn clients(service: &Service) -> (Vec<TcpStream>, Pipe) {
    let address = service.listeners()[0].address;
    // The rest of the body never comes.
    let begun = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    let slow = send_text(address, begun).await;
    let http = Http::new(format!("http://{address}/mcp")).with("connection", "keep-alive");
    let endless = send_text(address, &http.posted(&call(endless()))).await;
    let mut session = send_text(address, &http.posted(&initialize(HANDSHAKE))).await;
    session.read_u8().await.expect("a session");
    let health = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut health = send_text(address, health).await;
    health
        .read_u8()
        .await
        .expect("the server has all connections");
    let mut pipe = Pipe::new(service.server().open_pipe());
    pipe.ask(initialize(HANDSHAKE)).await;
    eventually("the call runs", async || is_running(service)).await;
    (vec![slow, endless, session, health], pipe)
}

/// Checks that no socket and no task of a service is left. This runtime goes on, so it is not its end that ends them.
async fn nothing_is_left(address: SocketAddr, (streams, mut pipe): (Vec<TcpStream>, Pipe)) {
    for mut stream in streams {
        let mut rest = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        // A connection that is reset is closed as well.
        let _ = read.expect("the socket is closed");
    }
    // The pipe is closed.
    pipe.rest().await;
    let refused = TcpStream::connect(address).await;
    assert!(refused.is_err(), "nothing listens");
    let metrics = tokio::runtime::Handle::current().metrics();
    eventually("no task is left", async || metrics.num_alive_tasks() == 0).await;
}

#[tokio::test]
async fn nothing_is_left_of_a_service_that_is_stopped() {
    let service = Service::start(over_http()).await.expect("a free port");
    let address = service.listeners()[0].address;
    let clients = clients(&service).await;
    let stopped = tokio::time::timeout(PATIENCE, service.stop()).await;
    stopped.expect("an end").expect("no error");
    // The handle of an endpoint keeps nothing running.
    let _server = service.server().clone();
    nothing_is_left(address, clients).await;
}

#[tokio::test]
async fn nothing_is_left_of_a_service_that_is_dropped() {
    let service = Service::start(over_http()).await.expect("a free port");
    let address = service.listeners()[0].address;
    let clients = clients(&service).await;
    let _server = service.server().clone();
    drop(service);
    nothing_is_left(address, clients).await;
}
