//! Several processes behind a HAProxy with the configuration of `deploy`.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
};

use puppet::{PATIENCE, is_installed};
use serde_json::json;

use super::{
    folder::folder,
    processes::{Balancer, CLIENTS, Server, by_turns, checks_often, request, under_load},
};

/// A configuration with one endpoint and one servlet.
pub(super) const ENDPOINT: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.main]\nkind = \"http\"\nlistener = \"local\"\nsession.store = \"sealed\"\n\
    [server]\nstate_keys = [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n\
    [servlet.a]\nsource = \"a.wasm\"\n";

fn post(address: &str, headers: &str, body: &str) -> Option<(u16, String)> {
    let headers = format!(
        "content-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}"
    );
    request(address, "POST", "/mcp", &headers, body)
}

/// The response to a client that wants a session.
pub(super) fn initialize(balancer: &Balancer, headers: &str) -> Option<(u16, String)> {
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    post(&balancer.address, headers, &body.to_string())
}

/// The id of the session that a response opens.
pub(super) fn id_of(response: &str) -> &str {
    let mut lines = response.lines();
    let id = lines.find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then_some(value)
    });
    id.unwrap_or_else(|| panic!("no session in {response}"))
}

/// Opens a session, and returns its id.
pub(super) fn open(balancer: &Balancer, headers: &str) -> String {
    let (status, response) = initialize(balancer, headers).expect("a response");
    assert_eq!(status, 200, "{response}");
    id_of(&response).to_owned()
}

/// The status of a call in a session.
pub(super) fn call(balancer: &Balancer, id: &str, headers: &str) -> Option<u16> {
    call_at(&balancer.address, id, headers)
}

/// The same at one of the processes.
pub(super) fn call_at(address: &str, id: &str, headers: &str) -> Option<u16> {
    let params = json!({ "name": "t", "arguments": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = format!("{headers}mcp-session-id: {id}\r\n");
    let (status, _) = post(address, &headers, &body.to_string())?;
    Some(status)
}

/// The headers and the body of a call since 2026-07-28.
fn alone() -> (&'static str, String) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "t", "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: t\r\n";
    (headers, body.to_string())
}

pub(super) fn call_alone(balancer: &Balancer, headers: &str) -> Result<(), String> {
    let (own, body) = alone();
    match post(&balancer.address, &format!("{own}{headers}"), &body) {
        Some((200, _)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Three processes with the same configuration.
pub(super) fn three(config: &str) -> Vec<Server> {
    (0..3).map(|_| Server::start(folder(config))).collect()
}

/// With one thread, HAProxy learns that its connections to a process have ended before it answers another request. Until its checks
/// notice the end of the process, it tries the next one.
pub(super) fn on_one_thread(config: String) -> String {
    config.replace("global\n", "global\n    nbthread 1\n")
}

#[test]
fn a_process_that_is_killed_takes_only_its_own_calls_along() {
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three(ENDPOINT);
    let balancer = Balancer::start(&servers, |config| config);
    let counts = under_load(
        |_| || call_alone(&balancer, ""),
        |counts| {
            counts.more(100);
            servers[0].kill();
            counts.more(200);
        },
    );
    // Each client waits for one answer at a time.
    let failures = counts.failures();
    assert!(failures.len() <= CLIENTS, "{failures:?}");
}

#[test]
fn a_process_that_leaves_loses_no_call() {
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three(&format!("http.leave = \"3s\"\n{ENDPOINT}"));
    let balancer = Balancer::start(&servers, checks_often);
    let counts = under_load(
        |_| || call_alone(&balancer, ""),
        |counts| {
            counts.more(50);
            servers[0].stop();
            counts.more(50);
        },
    );
    assert_eq!(counts.failures(), [""; 0]);
}

#[test]
fn no_sealed_session_is_lost_behind_a_load_balancer() {
    if !is_installed("haproxy") {
        return;
    }
    let by_session = |config: String| config;
    let ways: [&dyn Fn(String) -> String; 2] = [&by_turns, &by_session];
    for way in ways {
        let mut servers = three(ENDPOINT);
        let balancer = Balancer::start(&servers, |config| on_one_thread(way(config)));
        let ids: Vec<_> = (0..200).map(|_| open(&balancer, "")).collect();
        let lost = || {
            let calls = ids.iter().map(|id| call(&balancer, id, ""));
            calls.filter(|status| *status != Some(200)).count()
        };
        assert_eq!(lost(), 0);
        servers[0].kill();
        // HAProxy learns of the end before it answers this.
        let health = request(&balancer.address, "GET", "/health", "", "");
        assert_eq!(health.map(|(status, _)| status), Some(200));
        assert_eq!(lost(), 0);
    }
}

/// Sends a call whose body may arrive after its head, and returns the status of the response.
fn call_in_parts(stream: &mut BufReader<TcpStream>, key: &str) -> std::io::Result<String> {
    let (headers, body) = alone();
    let length = body.len();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n{headers}content-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.get_mut().write_all(head.as_bytes())?;
    stream.get_mut().write_all(body.as_bytes())?;
    let mut status = String::new();
    stream.read_line(&mut status)?;
    let mut length = None;
    for line in stream.by_ref().lines() {
        let line = line?.to_lowercase();
        if line.is_empty() {
            break;
        }
        let value = line.strip_prefix("content-length: ");
        length = length.or(value.map(|value| value.parse().expect("a number")));
    }
    if let Some(length) = length {
        stream.read_exact(&mut vec![0; length])?;
        return Ok(status);
    }
    // The last chunk is empty.
    let mut line = String::new();
    while line != "0\r\n" {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    stream.read_line(&mut line)?;
    Ok(status)
}

#[test]
fn a_refused_request_does_not_end_the_connection_of_its_client() {
    if !is_installed("haproxy") {
        return;
    }
    let auth = "[auth.corp]\nresource = \"https://mcp.example/mcp\"\nkey = [{ name = \"k\", sha256 = \
        \"8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a\" }]\n";
    let config = ENDPOINT.replace("session.store", "auth = \"corp\"\nsession.store") + auth;
    let servers = three(&config);
    let balancer = Balancer::start(&servers, |config| config);
    let stream = TcpStream::connect(&balancer.address).expect("a connection");
    stream.set_nodelay(true).expect("an option");
    let limited = stream.set_read_timeout(Some(PATIENCE));
    limited.expect("an option");
    let mut stream = BufReader::new(stream);
    for _ in 0..300 {
        for (key, status) in [("wrong", "401"), ("k", "200")] {
            let answered = call_in_parts(&mut stream, key).expect("a response");
            assert!(
                answered.starts_with(&format!("HTTP/1.1 {status}")),
                "{answered}"
            );
        }
    }
}
