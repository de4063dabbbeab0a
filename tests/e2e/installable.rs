//! The installable examples as wasm: the hosts that they may reach, and pages from a real server.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use e2e::{Profile, wasm};
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{LoadOptions, block_on};
use serde_json::{Value, json};

use crate::exports::imports;
use crate::support::{load, object, text};

/// Starts a server on this machine and returns its URL.
pub(crate) fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = [0; 4096];
            let length = stream.read(&mut request).expect("a request");
            let request = String::from_utf8_lossy(&request[..length]);
            let path = request.split(' ').nth(1).expect("a path");
            let (head, body) = answer(path);
            let length = body.len();
            let head =
                format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            // The other side may close the connection early.
            let _ = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    address
}

/// The status with the headers, and the body.
fn answer(path: &str) -> (&'static str, &'static [u8]) {
    match path {
        "/page" => (
            "200 OK\r\nContent-Type: text/html; charset=ISO-8859-1",
            b"<title>T</title><h1>Caf\xe9</h1><p>Open <em>daily</em>.</p>",
        ),
        "/moved" => ("302 Found\r\nLocation: /page", b""),
        "/away" => ("302 Found\r\nLocation: http://localhost:9/", b""),
        "/data" => (
            "200 OK\r\nContent-Type: application/json",
            b"{\"a\": [1, 2]}",
        ),
        "/picture" => ("200 OK\r\nContent-Type: image/png", b"\x89PNG"),
        _ => ("404 Not Found\r\nContent-Type: text/plain", b"no such page"),
    }
}

fn fetcher(allowed_hosts: Vec<String>) -> Servlet {
    let mut options = LoadOptions::default();
    options.allowed_hosts = allowed_hosts;
    load(&wasm("fetch", Profile::Servlet), &options)
}

fn fetch(servlet: &Servlet, arguments: &Value) -> (bool, String) {
    let result = block_on(servlet.call("fetch", Some(object(arguments))));
    let result = result.unwrap_or_else(|error| panic!("{arguments}: {error}"));
    (result.is_error(), text(&result).to_owned())
}

#[test]
fn pages_of_a_server_are_read_as_a_model_wants_them() {
    let (servlet, server) = (fetcher(vec!["127.0.0.1".to_owned()]), server());
    let cases = [
        ("/page", false, "# Café\n\nOpen *daily*."),
        ("/moved", false, "# Café\n\nOpen *daily*."),
        ("/data", false, "{\"a\": [1, 2]}"),
        (
            "/picture",
            true,
            "the body is `image/png`, which is not text",
        ),
        (
            "/nothing",
            true,
            "the server answered with status 404: no such page",
        ),
    ];
    for (path, is_error, expected) in cases {
        let arguments = json!({ "url": format!("{server}{path}") });
        assert_eq!(
            fetch(&servlet, &arguments),
            (is_error, expected.to_owned()),
            "{path}"
        );
    }
    let arguments = json!({ "url": format!("{server}/data"), "max_length": 5, "start_index": 1 });
    let (_, part) = fetch(&servlet, &arguments);
    assert_eq!(
        part,
        "\"a\": \n\n[6 of 13 characters: go on with `start_index` 6]"
    );
}

#[test]
fn fetches_only_what_the_operator_allows() {
    let server = server();
    for (allowed, path) in [(vec![], "/page"), (vec!["127.0.0.1".to_owned()], "/away")] {
        let arguments = json!({ "url": format!("{server}{path}") });
        let (is_error, text) = fetch(&fetcher(allowed), &arguments);
        let says = text.contains("not allowed; the operator can allow them with `--allow-host ");
        assert!(is_error && says, "{path}: {text}");
    }
}

#[test]
fn a_server_that_is_down_is_an_error_for_the_model() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let servlet = fetcher(vec!["127.0.0.1".to_owned()]);
    let (is_error, text) = fetch(&servlet, &json!({ "url": format!("http://{address}/") }));
    let says = format!("the connection to `http://{address}` failed: ");
    assert!(is_error && text.starts_with(&says), "{text}");
}

#[test]
fn a_proxy_of_the_environment_sees_no_request() {
    let proxy = TcpListener::bind("127.0.0.1:0").expect("a port");
    proxy.set_nonblocking(true).expect("a listener");
    let address = format!("http://{}", proxy.local_addr().expect("an address"));
    let mut command = Command::new(e2e::servlet());
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    for variable in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env(variable, &address);
    }
    let argument = format!("url={}/data", server());
    let output = command
        .arg("call")
        .arg(wasm("fetch", Profile::Servlet))
        .args(["fetch", &argument, "--allow-host", "127.0.0.1"])
        .output()
        .expect("the command starts");
    let messages = String::from_utf8_lossy(&output.stdout);
    assert!(messages.contains("[1, 2]"), "{output:?}");
    assert!(proxy.accept().is_err(), "the proxy got a request");
}

#[test]
fn the_clock_and_http_are_imported_by_those_who_use_them() {
    let beyond = |name: &str, words: &[&str]| {
        let imports = imports(&wasm(name, Profile::Servlet));
        let found = imports.iter().filter(|import| {
            import.starts_with("http_") || import.contains('/') || import.contains("::")
        });
        let found: Vec<_> = found.map(String::as_str).collect();
        assert_eq!(found, words, "{name}");
    };
    for name in ["qr_code", "json_query", "draw_svg"] {
        beyond(name, &[]);
    }
    beyond("world_time", &["wasi_snapshot_preview1::clock_time_get"]);
    beyond(
        "fetch",
        &["http_headers", "http_request", "http_status_code"],
    );
}
