//! Clients that disconnect: their calls stop, and the server does not wait for them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Instances, Limit, LoadOptions};
use mcp_servlet_server::{HttpOptions, ServeError, ServeOptions, Server};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use crate::{
    client::{Served, request, stateless},
    support::{DESCRIPTION, Wat},
};

/// Shorter than the time after which clients kill a server, and than rmcp's wait for running calls.
const SOON: Duration = Duration::from_secs(4);

/// Longer than any step takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

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

fn is_running(server: &Server) -> bool {
    server.metrics().contains("servlet_calls_running 1")
}

#[test]
fn the_end_of_a_session_stops_its_calls() {
    let served = Served::start(host());
    let session = served.open();
    std::thread::scope(|scope| {
        scope.spawn(|| served.in_session(&session, &request("tools/call", endless())));
        let start = Instant::now();
        while !is_running(&served.server) {
            assert!(start.elapsed() < PATIENCE, "the call does not begin");
            std::thread::sleep(Duration::from_millis(2));
        }
        let ended = Instant::now();
        let headers = [("mcp-session-id", &*session)];
        assert_eq!(served.send("DELETE", "/mcp", &headers, "").status, 204);
        let next = served.ask("tools/call", json!({"name": "t"}));
        assert_eq!(next.message()["result"]["content"], json!([]));
        assert!(ended.elapsed() < SOON, "{:?}", ended.elapsed());
    });
}

/// A client with a pipe in each direction.
struct Client {
    server: Server,
    serving: JoinHandle<Result<(), ServeError>>,
    input: DuplexStream,
    output: BufReader<DuplexStream>,
}

impl Client {
    fn start() -> Self {
        let server = Server::new(Arc::new(host()), ServeOptions::default());
        let (input, reader) = tokio::io::duplex(1 << 16);
        let (writer, output) = tokio::io::duplex(1 << 16);
        let handle = server.clone();
        let serving =
            tokio::spawn(
                async move { mcp_servlet_server::serve_stream(&handle, reader, writer).await },
            );
        let output = BufReader::new(output);
        Self {
            server,
            serving,
            input,
            output,
        }
    }

    async fn running(&self) {
        let start = Instant::now();
        while !is_running(&self.server) {
            assert!(start.elapsed() < PATIENCE, "the call does not begin");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

async fn send(input: &mut DuplexStream, params: Value) {
    let line = stateless("tools/call", params) + "\n";
    let sent = input.write_all(line.as_bytes()).await;
    sent.expect("the server reads");
}

#[tokio::test]
async fn closed_input_ends_the_connection_while_a_call_runs() {
    let mut client = Client::start();
    send(&mut client.input, endless()).await;
    client.running().await;
    let start = Instant::now();
    drop(client.input);
    let ended = tokio::time::timeout(PATIENCE, client.serving).await;
    ended
        .expect("an end")
        .expect("no panic")
        .expect("a graceful end");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[tokio::test]
async fn closed_input_still_gets_responses_that_are_soon_ready() {
    let mut client = Client::start();
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
    let mut client = Client::start();
    drop(client.output);
    send(&mut client.input, json!({"name": "t"})).await;
    let ended = tokio::time::timeout(PATIENCE, client.serving).await;
    ended
        .expect("an end")
        .expect("no panic")
        .expect("a graceful end");
}

#[tokio::test]
async fn a_server_that_has_ended_has_no_sockets() {
    let mut options = ServeOptions::default();
    options.drain = Duration::from_millis(10);
    let server = Server::new(Arc::new(host()), options);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = server.clone();
    let ended = tokio::spawn(async move {
        mcp_servlet_server::http(&serving, listener, HttpOptions::default()).await;
    });
    let mut client = TcpStream::connect(address).await.expect("a connection");
    // The rest of the body never comes.
    let begun = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
    client.write_all(begun.as_bytes()).await.expect("a write");
    let health = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut other = TcpStream::connect(address).await.expect("a connection");
    other.write_all(health.as_bytes()).await.expect("a write");
    other
        .read_u8()
        .await
        .expect("the server has both connections");
    server.stop();
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("an end")
        .expect("no panic");
    // The runtime goes on, so it is not its end that closes the socket.
    let read = tokio::time::timeout(SOON, client.read_u8()).await;
    assert!(read.expect("the socket is closed").is_err());
}
