//! HTTP requests and their limits.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::Arc,
    time::Duration,
};

use mcp_servlet_call::{CallError, CallErrorKind, Limit, Limits};
use mcp_servlet_host::{CallToolResult, Servlet};
use mcp_servlet_runtime::{Isolation, LoadOptions, block_on};

use puppet::PATIENCE;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::{
    arguments, assert_works,
    support::{Wat, tools_named},
};

/// Sends a request to `url` several times, for any call of its tools.
fn fetcher(url: &str, times: usize) -> Wat {
    sender(&format!(r#"{{"url":"{url}"}}"#), times, "")
}

/// Sends any request, in the JSON of Extism, and continues with `then`.
pub(crate) fn sender(request: &str, times: usize, then: &str) -> Wat {
    sending("(i64.const 0)", request, times, then)
}

/// Sends a request with a body once.
pub(crate) fn sender_with_body(request: &str, body: &str) -> Wat {
    let block = format!("(call $block (i32.const 62000) (i32.const {}))", body.len());
    let store = stored(62000, body);
    sending(
        &format!("(block (result i64) {store} {block})"),
        request,
        1,
        "",
    )
}

fn sending(body: &str, request: &str, times: usize, then: &str) -> Wat {
    let http = r#"(import "extism:host/env" "http_request"
        (func $http (param i64 i64) (result i64)))"#;
    let send = format!(
        "(drop (call $http (call $block (i32.const 60000) (i32.const {})) {body}))",
        request.len()
    );
    let body = stored(60000, request) + &send.repeat(times) + then;
    tools_named(&["t", "u"], &[(1, &body)]).import(http)
}

/// Code that stores a text in memory.
fn stored(at: usize, text: &str) -> String {
    let bytes = text.bytes().zip(at..);
    let stores =
        bytes.map(|(byte, at)| format!("(i32.store8 (i32.const {at}) (i32.const {byte}))"));
    stores.collect::<Vec<_>>().concat()
}

fn options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.allowed_hosts = vec!["127.0.0.1".into()];
    options
}

/// A server that answers every request with `body`, or never if there is no body.
fn server(body: Option<&'static str>) -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in server.incoming() {
            let mut stream = stream.expect("a connection");
            if let Some(body) = body {
                let _ = stream.read(&mut [0; 1024]).expect("a request");
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                // The client may have closed the connection already.
                let _ = stream.write_all((head + body).as_bytes());
            } else {
                open.push(stream);
            }
        }
    });
    port
}

fn fault(servlet: &Servlet) -> CallError {
    let error = block_on(servlet.call("t", Some(&arguments(1)))).expect_err("a fault");
    assert_works(servlet);
    error
}

fn load(url: &str, times: usize, options: &LoadOptions) -> Servlet {
    fetcher(url, times).load_with(options).expect("a servlet")
}

#[test]
fn requests_reach_only_allowed_hosts_in_any_spelling() {
    for url in [
        "http://localhost/",
        "http://127.0.0.1.evil.example/",
        "http://127.0.0.1@evil.example/",
        "http://[::1]/",
        "http://127.0.0.2/",
    ] {
        let error = fault(&load(url, 1, &options()));
        assert!(
            matches!(error.kind, CallErrorKind::HostDenied { .. }),
            "{url}: {error:?}"
        );
    }
    for url in ["file:///etc/passwd", "/etc/passwd", "ftp://127.0.0.1/", ""] {
        let error = fault(&load(url, 1, &options()));
        assert!(!error.to_string().contains("root:"), "{url}: {error}");
    }
}

#[test]
fn requests_of_one_call_are_counted() {
    let url = format!("http://127.0.0.1:{}/", server(Some("hi")));
    let http_requests = Limit::At(2);
    let mut options = options();
    options.limits.http_requests = http_requests;
    let servlet = load(&url, 2, &options);
    for _ in 0..2 {
        block_on(servlet.call("t", Some(&arguments(1)))).expect("two are allowed, in each call");
    }
    let error = fault(&load(&url, 3, &options));
    assert!(
        error
            .to_string()
            .contains("may send at most 2 HTTP requests"),
        "{error}"
    );
}

#[test]
fn responses_are_bounded() {
    let url = format!("http://127.0.0.1:{}/", server(Some("0123456789")));
    let limit = |limit| {
        let mut options = options();
        options.limits.http_response = Limit::At(limit);
        options
    };
    block_on(load(&url, 1, &limit(10)).call("t", Some(&arguments(1)))).expect("it fits");
    let error = fault(&load(&url, 1, &limit(9)));
    assert!(error.to_string().contains("larger than 9 bytes"), "{error}");
}

#[test]
fn a_tool_can_have_limits_of_its_own() {
    let url = format!("http://127.0.0.1:{}/", server(Some("0123456789")));
    let error = |limits| {
        let mut options = options();
        options.tools = [("u".to_owned(), limits)].into();
        let servlet = load(&url, 2, &options);
        let other = block_on(servlet.call("t", Some(&arguments(1))));
        other.expect("the limits are for the other one");
        let error = block_on(servlet.call("u", Some(&arguments(1))));
        error.expect_err("too much").to_string()
    };
    let mut limits = Limits::default();
    limits.http_requests = Limit::At(1);
    let requests = error(limits);
    assert!(
        requests.contains("may send at most 1 HTTP requests"),
        "{requests}"
    );
    let mut limits = Limits::default();
    limits.http_response = Limit::At(9);
    let response = error(limits);
    assert!(response.contains("larger than 9 bytes"), "{response}");
}

async fn call(servlet: Arc<Servlet>, tool: &'static str) -> Result<CallToolResult, CallError> {
    servlet.call(tool, Some(&arguments(1))).await
}

/// The next request that reaches the server, which stays open.
async fn accept(server: &tokio::net::TcpListener) -> TcpStream {
    let accepted = timeout(PATIENCE, server.accept()).await;
    let (mut stream, _) = accepted.expect("a request").expect("a connection");
    assert!(stream.read(&mut [0; 1024]).await.expect("a request") > 0);
    stream
}

async fn answer(mut stream: TcpStream) {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
    stream.write_all(answer).await.expect("an open connection");
}

#[tokio::test]
async fn all_calls_of_a_servlet_share_the_limit_of_open_requests() {
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let server = server.expect("a port");
    let url = format!("http://{}/", server.local_addr().expect("an address"));
    let mut options = options();
    options.isolation = Some(Isolation::Call);
    options.http_concurrency = Some(2);
    options.limits.http_timeout = Limit::Unlimited;
    let mut impatient = Limits::default();
    impatient.http_timeout = Limit::At(Duration::from_millis(50));
    options.tools = [("u".to_owned(), impatient)].into();
    let servlet = Arc::new(load(&url, 1, &options));
    let calls = [(); 2].map(|()| tokio::spawn(call(Arc::clone(&servlet), "t")));
    let open = [accept(&server).await, accept(&server).await];
    let error = call(Arc::clone(&servlet), "u").await;
    let error = error.expect_err("two are open").to_string();
    assert!(error.contains("limit `http_concurrency`"), "{error}");
    // A request without a time limit waits for one of them to end, and another servlet for none.
    let waiting = tokio::spawn(call(servlet, "t"));
    let other = tokio::spawn(call(Arc::new(load(&url, 1, &options)), "t"));
    answer(accept(&server).await).await;
    let other = timeout(PATIENCE, other).await.expect("an answer");
    other.expect("no panic").expect("a result");
    assert!(!waiting.is_finished());
    for stream in open {
        answer(stream).await;
    }
    answer(accept(&server).await).await;
    for call in calls.into_iter().chain([waiting]) {
        let result = timeout(PATIENCE, call).await.expect("an answer");
        result.expect("no panic").expect("a result");
    }
}

#[test]
fn a_server_that_does_not_answer_costs_no_more_than_the_deadline() {
    let url = format!("http://127.0.0.1:{}/", server(None));
    let timeout = Limit::At(Duration::from_millis(100));
    let mut options = options();
    options.limits.timeout = timeout;
    let error = fault(&load(&url, 1, &options));
    assert!(
        matches!(error.kind, CallErrorKind::Timeout { .. }),
        "{error:?}"
    );
}
