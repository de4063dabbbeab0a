//! `Context::http_all` in our host, which sends the requests at the same time, and in a plain Extism host.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;

use e2e::fixture;
use extism::{Manifest, Plugin, Wasm};
use mcp_servlet_call::Limit;
use mcp_servlet_host::Servlet;
use mcp_servlet_runtime::{LoadOptions, block_on};
use serde_json::{Value, json};

use crate::support::{load, object, text};

/// A server that answers each group of this many requests when all of them have arrived, the last one first.
fn server(group: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        loop {
            let mut waiting = Vec::new();
            for _ in 0..group {
                let (mut stream, _) = listener.accept().expect("a connection");
                let body = body(&mut stream);
                waiting.push((stream, body));
            }
            for (mut stream, body) in waiting.into_iter().rev() {
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                let sent = stream.write_all((head + &body).as_bytes());
                sent.expect("the client reads");
            }
        }
    });
    url
}

/// The body of a request.
fn body(stream: &mut TcpStream) -> String {
    let (mut request, mut part) = (String::new(), [0; 4096]);
    loop {
        let length = stream.read(&mut part).expect("a request");
        assert_ne!(length, 0, "the client left in {request:?}");
        request.push_str(std::str::from_utf8(&part[..length]).expect("text"));
        let Some((head, body)) = request.split_once("\r\n\r\n") else {
            continue;
        };
        let mut headers = head.lines().map(str::to_ascii_lowercase);
        let expected = headers.find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() == expected.unwrap_or(0) {
            return body.to_owned();
        }
    }
}

fn urls(server: &str, paths: &[&str]) -> Vec<String> {
    let urls = paths.iter().map(|path| {
        if path.starts_with('/') {
            format!("{server}{path}")
        } else {
            (*path).to_owned()
        }
    });
    urls.collect()
}

fn options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.allowed_hosts.push("127.0.0.1".to_owned());
    options
}

fn wasm() -> PathBuf {
    fixture("http_all")
}

fn fetch(servlet: &Servlet, urls: &[String]) -> String {
    let result = block_on(servlet.call("fetch", Some(object(&json!({ "urls": urls })))));
    text(&result.expect("a result")).to_owned()
}

#[test]
fn our_host_sends_all_requests_at_once_and_keeps_their_order() {
    let server = server(3);
    let urls = urls(
        &server,
        &["/first", "http://other.example/", "/2", "ftp://a", "/third"],
    );
    let [first, _, second, _, third] = &*urls else {
        panic!("{urls:?}");
    };
    let expected = format!("{first}\nNotAllowed\n{second}\nRequest\n{third}");
    assert_eq!(fetch(&load(&wasm(), &options()), &urls), expected);
}

#[test]
fn each_request_counts() {
    let server = server(1);
    let urls = urls(&server, &["/1", "/2", "/3"]);
    let mut few = options();
    few.limits.http_requests = Limit::At(2);
    let expected = format!("{}\n{}\nTooManyRequests", urls[0], urls[1]);
    assert_eq!(fetch(&load(&wasm(), &few), &urls), expected);
    let mut narrow = options();
    narrow.http_concurrency = Some(1);
    assert_eq!(fetch(&load(&wasm(), &narrow), &urls), urls.join("\n"));
    let mut small = options();
    small.limits.http_response = Limit::At(urls[0].len() as u64 - 1);
    let expected = "TooLarge\nTooLarge\nTooLarge";
    assert_eq!(fetch(&load(&wasm(), &small), &urls), expected);
}

#[test]
fn the_responses_fit_in_the_memory_of_the_servlet() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            body(&mut stream);
            let large = vec![b'x'; 3 << 20];
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                large.len()
            );
            // The host stops reading where there is no room.
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(&large));
        }
    });
    let mut options = options();
    options.limits.memory = Limit::At(8 << 20);
    // At the same time, none of them might get enough room.
    options.http_concurrency = Some(1);
    let servlet = load(&wasm(), &options);
    let result = block_on(servlet.call("fetch", Some(object(&json!({ "urls": vec![url; 20] })))));
    // There is room for two of them in the host, and not in the servlet, which has them twice.
    let error = result.expect_err("no memory").to_string();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn a_plain_extism_host_sends_one_request_after_the_other() {
    let server = server(1);
    let urls = urls(&server, &["/1", "ftp://a", "/2"]);
    let wasm = std::fs::read(wasm()).expect("cargo built it");
    let manifest = Manifest::new([Wasm::data(wasm)]).with_allowed_host("127.0.0.1");
    let mut plugin = Plugin::new(manifest, [], true).expect("an Extism plugin");
    let request = json!({ "params": { "name": "fetch", "arguments": { "urls": urls } } });
    let answer: &str = plugin.call("call", request.to_string()).expect("a result");
    let answer: Value = serde_json::from_str(answer).expect("JSON");
    let expected = format!("{}\nRequest\n{}", urls[0], urls[2]);
    assert_eq!(answer["content"][0]["text"], expected, "{answer}");
}
