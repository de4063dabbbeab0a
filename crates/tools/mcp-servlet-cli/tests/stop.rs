//! The end of a server behind a load balancer.
#![cfg(unix)]

mod folder;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use puppet::{PATIENCE, eventually_blocking};

use crate::folder::folder;

/// The head and the body of the response to a request.
fn send(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let limited = stream.set_read_timeout(Some(PATIENCE));
    limited.expect("an option");
    stream.write_all(request.as_bytes()).expect("a write");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("text");
    response
}

fn get(address: &str, path: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    send(address, &head)
}

fn initialize(address: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    send(address, &head)
}

#[test]
fn a_process_that_leaves_answers_until_load_balancers_know() {
    let servlet = "[http]\nleave = \"6s\"\n[servlet.a]\nsource = \"a.wasm\"\n";
    let folder = folder(servlet);
    let mut serve = Command::new(env!("CARGO_BIN_EXE_servlet"));
    serve.args(["serve", "servlet.toml", "--http", "127.0.0.1:0"]);
    serve.current_dir(&folder).stderr(Stdio::piped());
    let mut serve = serve.spawn().expect("a server");
    let stderr = serve.stderr.take().expect("it is piped");
    let mut lines = BufReader::new(stderr).lines();
    let first = lines.next().expect("a line").expect("text");
    // Keeps the pipe open, and empty.
    std::thread::spawn(move || lines.for_each(drop));
    let address = first.trim_start_matches("listening on http://");
    let address = address.trim_end_matches("/mcp");
    assert!(get(address, "/ready").starts_with("HTTP/1.1 200"));
    let start = Instant::now();
    let kill = Command::new("kill").arg(serve.id().to_string()).status();
    assert!(kill.expect("a signal").success());
    eventually_blocking("load balancers learn it", || {
        !get(address, "/ready").starts_with("HTTP/1.1 200")
    });
    assert!(get(address, "/health").starts_with("HTTP/1.1 200"));
    assert!(initialize(address).starts_with("HTTP/1.1 200"));
    let ended = serve.wait().expect("an end");
    assert!(ended.success(), "{ended:?}");
    assert!(start.elapsed() >= Duration::from_secs(6));
}
