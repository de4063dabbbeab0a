//! `servlet serve` over both transports: many concurrent calls, servlets that are replaced meanwhile, and clients that
//! do not wait.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread;

use e2e::servlet_command;
use puppet::eventually_blocking;
use serde_json::{Value, json};

use crate::faults::servlet;
use crate::streams::{PATIENCE, Wire, text};
use crate::wat::tools;

fn serve(file: &Path, options: &[&str]) -> Wire {
    let mut command = servlet_command(["serve"]);
    command.arg(file).args(options);
    command.env("RUST_LOG", "mcp_servlet_server=warn");
    Wire::start(command)
}

/// Also serves over HTTP. Returns the client and the address. The server keeps running when the
/// client on standard input leaves.
fn serve_http(file: &Path) -> (Wire, String) {
    let here = "127.0.0.1:0";
    let wire = serve(file, &["--http", here, "--stdio", "--operations", here]);
    let url = wire.said_after("listening on http://");
    let address = url.strip_suffix("/mcp").expect("the URL of the endpoint");
    (wire, address.to_owned())
}

/// Sends a call since 2026-07-28.
fn post(address: &str, arguments: &Value) -> TcpStream {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "t", "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: t\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("a connection");
    let sent = stream.write_all((head + &body).as_bytes());
    sent.expect("a request");
    stream
}

/// Sends a message up to 2025-11-25, in a session if there is one.
fn send(address: &str, session: &str, message: &Value) -> TcpStream {
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{session}connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("a connection");
    let sent = stream.write_all((head + &body).as_bytes());
    sent.expect("a request");
    stream
}

/// Waits until a call is running.
fn wait_for_a_call(operations: &str) {
    eventually_blocking("the call runs", || {
        metrics(operations).contains("servlet_calls_running 1")
    });
}

pub(crate) fn metrics(address: &str) -> String {
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("a request");
    read(stream)
}

/// Opens a session and returns its header.
fn open(address: &str) -> String {
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = read(send(address, "", &message));
    let mut lines = answer.lines();
    let id = lines.find(|line| line.to_lowercase().starts_with("mcp-session-id: "));
    let id = id.unwrap_or_else(|| panic!("{answer}"));
    let header = format!("{id}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    read(send(address, &header, &initialized));
    header
}

fn read(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn a_thousand_calls_of_one_servlet_are_answered_over_standard_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    fs::write(&file, servlet("t", "fine").wasm()).expect("a file");
    let wire = serve(&file, &[]);
    let calls: Vec<_> = (0..1000)
        .map(|_| wire.begin_call("t", &json!({})))
        .collect();
    for id in calls {
        assert_eq!(text(&wire.end(id)), "fine");
    }
    assert!(wire.finish().success());
}

#[test]
fn a_thousand_calls_of_one_servlet_are_answered_over_http() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    fs::write(&file, servlet("t", "fine").wasm()).expect("a file");
    let (_wire, address) = serve_http(&file);
    // All requests are sent before the first answer is read.
    let calls: Vec<_> = (0..1000).map(|_| post(&address, &json!({}))).collect();
    for call in calls {
        let answer = read(call);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(answer.matches(r#""text":"fine""#).count(), 1, "{answer}");
    }
}

#[test]
fn each_call_is_answered_once_while_its_servlet_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    let version = |number: usize| servlet("t", &format!("version {number}")).wasm();
    fs::write(&file, version(0)).expect("a file");
    let config = folder.path().join("servlet.toml");
    fs::write(&config, "[servlet.a]\nsource = \"a.wasm\"\n").expect("a file");
    let wire = serve(&config, &[]);
    let mut last = 0;
    for number in 1..=5 {
        thread::scope(|scope| {
            let client = || {
                let answers = (0..200).map(|_| {
                    let ids: Vec<_> = (0..4).map(|_| wire.begin_call("t", &json!({}))).collect();
                    let answers = ids.into_iter().map(|id| text(&wire.end(id)));
                    answers.collect::<Vec<_>>()
                });
                answers.flatten().collect::<Vec<_>>()
            };
            let clients = [scope.spawn(client), scope.spawn(client)];
            fs::write(&file, version(number)).expect("a file");
            wire.wait_for("notifications/tools/list_changed");
            assert_eq!(wire.call("t", &json!({})), format!("version {number}"));
            for client in clients {
                let answers = client.join().expect("no panic");
                let (old, new) = (format!("version {last}"), format!("version {number}"));
                assert_eq!(answers.len(), 800);
                assert!(
                    answers.iter().all(|text| *text == old || *text == new),
                    "{answers:?}"
                );
            }
        });
        last = number;
    }
    assert!(wire.finish().success());
}

/// The configuration of a servlet with one instance and no time limit, which runs forever on request.
fn spinning(folder: &Path) -> PathBuf {
    let spin = [(1, "(loop $l (br $l))")];
    fs::write(folder.join("a.wasm"), tools(&spin).wasm()).expect("a file");
    let config = folder.join("servlet.toml");
    let one = "[servlet.a]\nsource = \"a.wasm\"\nlimits = { timeout = \"none\", instances = { max = 1 } }\n";
    fs::write(&config, one).expect("a file");
    config
}

#[test]
fn stops_the_call_of_a_disconnected_client_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let (wire, address) = serve_http(&spinning(folder.path()));
    for _ in 0..5 {
        let gone = post(&address, &json!({ "do": 1 }));
        let waiting = wire.begin_call("t", &json!({ "do": 0 }));
        let other = post(&address, &json!({ "do": 0 }));
        drop(gone);
        // The only instance has been running all the time.
        assert_eq!(text(&wire.end(waiting)), "ok");
        assert!(read(other).contains(r#""text":"ok""#));
    }
}

#[test]
fn a_call_that_is_cancelled_in_a_session_is_stopped_and_others_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (wire, address) = serve_http(&spinning(folder.path()));
    let operations = wire.said_after("metrics on http://");
    let operations = operations.strip_suffix("/metrics").expect("an address");
    let session = open(&address);
    for id in 1..=5 {
        let params = json!({ "name": "t", "arguments": { "do": 1 } });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let running = send(&address, &session, &call);
        wait_for_a_call(operations);
        let waiting = wire.begin_call("t", &json!({ "do": 0 }));
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
        });
        let problem = read(send(&address, &session, &cancelled));
        assert!(problem.starts_with("HTTP/1.1 202 "), "{problem}");
        // The only instance has been running all the time.
        assert_eq!(text(&wire.end(waiting)), "ok");
        let answer = read(running);
        assert!(!answer.contains(r#""jsonrpc""#), "{answer}");
    }
}

#[test]
fn server_ends_with_its_client_while_calls_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    fs::write(&file, tools(&[(1, "(loop $l (br $l))")]).wasm()).expect("a file");
    let wire = serve(&file, &["--timeout", "none"]);
    let running = wire.begin_call("t", &json!({ "do": 1 }));
    assert_eq!(wire.call("t", &json!({ "do": 0 })), "ok");
    wire.leave();
    assert_eq!(wire.end(running)["error"]["code"], -32603);
    assert!(wire.finish().success());
}

#[cfg(unix)]
#[test]
fn a_second_signal_ends_a_server_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut wire, address) = serve_http(&spinning(folder.path()));
    let _running = post(&address, &json!({ "do": 1 }));
    let operations = wire.said_after("metrics on http://");
    let operations = operations.strip_suffix("/metrics").expect("an address");
    wait_for_a_call(operations);
    wire.signal("TERM");
    // The server has handled the signal once it refuses new requests.
    eventually_blocking("a refused ping", || {
        wire.ask("ping", json!({})).get("error").is_some()
    });
    wire.signal("TERM");
    wire.said_after("stopped at once");
    wire.ended();
}
