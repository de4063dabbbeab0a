//! Clients that disconnect: their calls stop, and the server does not wait for them.

use std::{net::SocketAddr, time::Duration};

use mcp_servlet_call::Limit;
use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Instances, LoadOptions};
use mcp_servlet_server::{HttpOptions, Plan, ServeError, ServeOptions, Service};
use puppet::{PATIENCE, eventually, eventually_blocking};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    net::TcpStream,
    task::JoinHandle,
};

use crate::{
    client::{Served, initialize, request, start, stateless},
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
        let call = scope.spawn(|| served.in_session(&session, &request("tools/call", endless())));
        eventually_blocking("the call runs", || is_running(&served.service));
        let headers = [("mcp-session-id", &*session)];
        assert_eq!(served.send("DELETE", "/mcp", &headers, "").status, 204);
        // It has the only instance once the endless call is stopped.
        let next = served.ask("tools/call", json!({"name": "t"}));
        assert_eq!(next.message()["result"]["content"], json!([]));
        let unanswered = call.join().expect("no panic");
        assert_eq!(
            (unanswered.status, &*unanswered.body),
            (404, "the session has ended\n")
        );
    });
}

/// A client with a pipe in each direction.
struct Client {
    service: Service,
    serving: JoinHandle<Result<(), ServeError>>,
    input: DuplexStream,
    output: BufReader<DuplexStream>,
}

impl Client {
    async fn start() -> Self {
        let service = start(host(), ServeOptions::default()).await;
        let (input, reader) = tokio::io::duplex(1 << 16);
        let (writer, output) = tokio::io::duplex(1 << 16);
        let server = service.server().clone();
        let serving = tokio::spawn(async move { server.serve_stream(reader, writer).await });
        let output = BufReader::new(output);
        Self {
            service,
            serving,
            input,
            output,
        }
    }

    async fn running(&self) {
        eventually("the call runs", async || is_running(&self.service)).await;
    }
}

async fn send(input: &mut DuplexStream, params: Value) {
    let line = stateless("tools/call", params) + "\n";
    let sent = input.write_all(line.as_bytes()).await;
    sent.expect("the server reads");
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_hold_up_a_stop() {
    let text = "x".repeat(20_000);
    let result = json!({"content": [{"type": "text", "text": text}]}).to_string();
    let wat = Wat::new().describe(DESCRIPTION).answer(&result);
    let servlet = wat.load_with(&LoadOptions::default()).expect("a servlet");
    let service = start(Host::new(vec![servlet]), ServeOptions::default()).await;
    let mut pipe = service.server().open_pipe();
    // Together, the results are more than the pipe takes.
    for number in 1..=4 {
        send(&mut pipe, json!({"name": "t"})).await;
        let ended = format!("outcome=\"ok\"}} {number}");
        eventually(&ended, async || service.metrics().contains(&ended)).await;
    }
    let stopped = tokio::time::timeout(PATIENCE, service.stop()).await;
    stopped.expect("an end").expect("a graceful end");
}

#[tokio::test]
async fn closed_input_ends_the_connection_while_a_call_runs() {
    let mut client = Client::start().await;
    send(&mut client.input, endless()).await;
    client.running().await;
    drop(client.input);
    let ended = tokio::time::timeout(PATIENCE, client.serving).await;
    ended
        .expect("an end")
        .expect("no panic")
        .expect("a graceful end");
    let stopped = async || !is_running(&client.service);
    eventually("the call is stopped", stopped).await;
}

#[tokio::test]
async fn closed_input_still_gets_responses_that_are_soon_ready() {
    let mut client = Client::start().await;
    send(&mut client.input, json!({"name": "t"})).await;
    drop(client.input);
    let mut line = String::new();
    client.output.read_line(&mut line).await.expect("a read");
    assert!(line.contains("\"content\":[]"), "{line}");
    client
        .serving
        .await
        .expect("no panic")
        .expect("a graceful end");
}

#[tokio::test]
async fn client_that_closes_its_output_is_disconnected() {
    let mut client = Client::start().await;
    drop(client.output);
    send(&mut client.input, json!({"name": "t"})).await;
    let ended = tokio::time::timeout(PATIENCE, client.serving).await;
    ended
        .expect("an end")
        .expect("no panic")
        .expect("a graceful end");
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

/// The text of a request over HTTP.
fn posted(headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

/// Clients of all kinds: one whose request never ends, one whose call never ends, one with a session, and one with a pipe.
async fn clients(service: &Service) -> (Vec<TcpStream>, DuplexStream) {
    let address = service.listeners()[0].address;
    // The rest of the body never comes.
    let begun = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    let slow = send_text(address, begun).await;
    let modern = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: t\r\n";
    let call = stateless("tools/call", endless());
    let endless = send_text(address, &posted(modern, &call)).await;
    let mut session = send_text(address, &posted("", &initialize(&json!({})))).await;
    session.read_u8().await.expect("a session");
    let health = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut health = send_text(address, health).await;
    health
        .read_u8()
        .await
        .expect("the server has all connections");
    let mut pipe = service.server().open_pipe();
    let opening = initialize(&json!({})) + "\n";
    pipe.write_all(opening.as_bytes()).await.expect("a write");
    pipe.read_u8().await.expect("a session");
    eventually("the call runs", async || is_running(service)).await;
    (vec![slow, endless, session, health], pipe)
}

/// Checks that no socket and no task of a service is left. This runtime goes on, so it is not its end that ends them.
async fn nothing_is_left(address: SocketAddr, (streams, mut pipe): (Vec<TcpStream>, DuplexStream)) {
    for mut stream in streams {
        let mut rest = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        // A connection that is reset is closed as well.
        let _ = read.expect("the socket is closed");
    }
    let read = tokio::time::timeout(PATIENCE, pipe.read_to_end(&mut Vec::new())).await;
    read.expect("the pipe is closed").expect("an end");
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
