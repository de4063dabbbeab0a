//! Requests on a runtime with one thread, which is also the server's.

use std::{io::Write as _, time::Duration};

use flate2::{Compression, write::GzEncoder};
use mcp_servlet_call::Limit;
use mcp_servlet_http::Proxy;
use mcp_servlet_types::HttpErrorKind;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::*;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// A server that answers as the test says.
struct Server {
    listener: TcpListener,
    request: Request,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let url = format!("http://{address}/").parse().expect("a URL");
        Self {
            listener,
            request: Request::get(url),
        }
    }

    /// The next connection, after its request.
    async fn accept(&self) -> TcpStream {
        let (mut stream, _) = self.listener.accept().await.expect("a connection");
        read_head(&mut stream).await;
        stream
    }

    /// Answers the request of the next connection.
    async fn answer(&self, bytes: &[u8]) {
        let mut stream = self.accept().await;
        stream.write_all(bytes).await.expect("an open connection");
    }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream.read_buf(&mut head).await;
        assert!(read.expect("an open connection") > 0, "the head is cut off");
    }
    String::from_utf8(head).expect("text")
}

/// Sends a single request.
async fn send(
    client: &Client,
    request: Request,
    limits: &Limits,
) -> Result<HttpResponse, HttpFailure> {
    client.send(request, limits, &Room::default()).await
}

fn options() -> LoadOptions {
    LoadOptions {
        allowed_hosts: vec!["127.0.0.1".to_owned()],
        ..LoadOptions::default()
    }
}

fn limits() -> Limits {
    options().call_limits()
}

/// How many threads this process has.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task");
    tasks.expect("Linux lists them").count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn requests_that_wait_hold_no_thread() {
    let (server, client) = (Server::start().await, Client::new(&options()));
    let before = threads();
    let mut requests = JoinSet::new();
    for _ in 0..50 {
        let (client, request) = (client.clone(), server.request.clone());
        requests.spawn(async move { send(&client, request, &limits()).await });
    }
    let mut waiting = Vec::new();
    while waiting.len() < 50 {
        waiting.push(server.accept().await);
    }
    assert!(threads() < before + 50, "{} more", threads() - before);
    for mut stream in waiting {
        stream.write_all(ANSWER).await.expect("an open connection");
    }
    for response in requests.join_all().await {
        assert_eq!(response.expect("a response").body, b"hi");
    }
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let (server, client) = (Server::start().await, Client::new(&options()));
    let request = server.request.clone();
    let answers = async {
        let mut stream = server.accept().await;
        // Another connection would be refused.
        drop(server);
        stream.write_all(ANSWER).await.expect("an open connection");
        read_head(&mut stream).await;
        stream.write_all(ANSWER).await.expect("an open connection");
    };
    let limits = limits();
    let requests = async {
        let first = send(&client, request.clone(), &limits).await;
        (first, send(&client, request, &limits).await)
    };
    let ((first, second), ()) = tokio::join!(requests, answers);
    assert_eq!(first.expect("a response").status, 200);
    assert_eq!(second.expect("a response").status, 200);
}

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    let (server, client) = (Server::start().await, Client::new(&options()));
    let limits = limits();
    let mut stream = tokio::select! {
        stream = server.accept() => stream,
        response = send(&client, server.request.clone(), &limits) => panic!("{response:?}"),
    };
    let read = stream.read(&mut [0; 1]).await;
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

#[tokio::test]
async fn requests_beyond_the_limit_wait_for_others_to_end() {
    let options = LoadOptions {
        http_concurrency: Some(1),
        ..options()
    };
    let (server, client) = (Server::start().await, Client::new(&options));
    let send = |http_timeout| {
        let mut limits = limits();
        limits.http_timeout = http_timeout;
        let (client, request) = (&client, server.request.clone());
        async move { send(client, request, &limits).await }
    };
    let second = tokio::select! {
        biased;
        response = send(Limit::Unlimited) => panic!("{response:?}"),
        (second, _open) = async { tokio::join!(send(Limit::At(Duration::from_millis(50))), server.accept()) } => second,
    };
    let second = second.expect_err("the first one is open");
    assert_eq!(second.kind, HttpErrorKind::TooManyRequests);
    assert!(second.message.contains("`http_concurrency`"), "{second}");
    let (third, ()) = tokio::join!(send(Limit::Unlimited), server.answer(ANSWER));
    assert_eq!(third.expect("a response").status, 200);
}

#[tokio::test]
async fn the_body_of_a_proxy_that_refuses_is_not_read() {
    let server = Server::start().await;
    let options = LoadOptions {
        proxy: Some(Proxy::parse(server.request.url.as_str()).expect("a proxy")),
        ..options()
    };
    let (client, request) = (Client::new(&options), server.request.clone());
    let refuse = async {
        let mut stream = server.accept().await;
        let refusal = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nno";
        stream.write_all(refusal).await.expect("an open connection");
        stream
    };
    let limits = limits();
    let (response, _open) = tokio::join!(send(&client, request, &limits), refuse);
    let failure = response.expect_err("a refusal");
    assert_eq!(failure.kind, HttpErrorKind::Connect);
    assert!(failure.message.contains("403"), "{failure}");
}

#[tokio::test]
async fn a_compressed_body_is_limited_after_decompression() {
    const SIZE: usize = 1 << 20;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&vec![0; SIZE]).expect("memory");
    let body = encoder.finish().expect("memory");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), &body].concat();
    let (server, client) = (Server::start().await, Client::new(&options()));
    let receive = async |size: usize, answer: &[u8]| {
        let mut limits = limits();
        limits.http_response = Limit::At(size as u64);
        let (response, ()) = tokio::join!(
            send(&client, server.request.clone(), &limits),
            server.answer(answer)
        );
        response
    };
    let response = receive(SIZE, &answer).await.expect("it fits");
    assert_eq!(response.body.len(), SIZE);
    assert_eq!(response.headers.get("content-encoding"), None);
    let failure = receive(SIZE - 1, &answer).await.expect_err("too large");
    assert_eq!(failure.kind, HttpErrorKind::TooLarge);
    let damaged = [head.as_bytes(), &vec![0; body.len()]].concat();
    let failure = receive(SIZE, &damaged).await.expect_err("no gzip");
    assert_eq!(failure.kind, HttpErrorKind::Protocol);
}
