//! Several processes behind a HAProxy with the configuration of `deploy`.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
};

use puppet::{PATIENCE, is_installed};
use serde_json::{Value, json};
use wire::{Http, message::stateless};

use super::{
    folder::folder,
    processes::{Balancer, CLIENTS, Server, by_turns, checks_often, under_load},
};

/// A configuration with one endpoint and one servlet.
pub(super) const ENDPOINT: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.main]\nkind = \"http\"\nlistener = \"local\"\nsession.store = \"sealed\"\n\
    [server]\nstate_keys = [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n\
    [servlet.a]\nsource = \"a.wasm\"\n";

/// A header of a client.
pub(super) type Header = (&'static str, &'static str);

/// A client of a load balancer or of a process.
pub(super) fn client(address: &str, headers: &[Header]) -> Http {
    Http::new(format!("http://{address}/mcp")).with_all(headers)
}

/// Opens a session, and returns its id.
pub(super) fn open(balancer: &Balancer, headers: &[Header]) -> String {
    let opened = client(&balancer.address, headers).initialize();
    assert_eq!(opened.status(), 200, "{opened:?}");
    opened.session()
}

/// The parameters of a call.
fn params() -> Value {
    json!({ "name": "t", "arguments": {} })
}

/// The status of a call whose response has arrived.
fn status(client: &Http) -> Result<u16, String> {
    let called = client.try_ask("tools/call", params());
    let called = called.map_err(|error| error.to_string())?;
    called.try_text().map_err(|error| error.to_string())?;
    Ok(called.status())
}

/// The status of a call in a session.
pub(super) fn call(balancer: &Balancer, id: &str, headers: &[Header]) -> Option<u16> {
    call_at(&balancer.address, id, headers)
}

/// The same at one of the processes.
pub(super) fn call_at(address: &str, id: &str, headers: &[Header]) -> Option<u16> {
    status(&client(address, headers).with("mcp-session-id", id)).ok()
}

pub(super) fn call_alone(balancer: &Balancer, headers: &[Header]) -> Result<(), String> {
    match status(&client(&balancer.address, headers)) {
        Ok(200) => Ok(()),
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
        |_| || call_alone(&balancer, &[]),
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
        |_| || call_alone(&balancer, &[]),
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
        let ids: Vec<_> = (0..200).map(|_| open(&balancer, &[])).collect();
        let lost = || {
            let calls = ids.iter().map(|id| call(&balancer, id, &[]));
            calls.filter(|status| *status != Some(200)).count()
        };
        assert_eq!(lost(), 0);
        servers[0].kill();
        // HAProxy learns of the end before it answers this.
        let health = client(&balancer.address, &[]).at("/health").get();
        assert_eq!(health.status(), 200);
        assert_eq!(lost(), 0);
    }
}

/// Sends a call whose body may arrive after its head, and returns the status of the response.
fn call_in_parts(stream: &mut BufReader<TcpStream>, key: &str) -> std::io::Result<String> {
    let client = client("localhost", &[("connection", "keep-alive")]);
    let client = client.with("authorization", &format!("Bearer {key}"));
    let request = client.posted(&stateless("tools/call", params()));
    let (head, body) = request.split_at(request.find("\r\n\r\n").expect("a head") + 4);
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
