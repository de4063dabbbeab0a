//! Slow clients do not hold up others, over TLS and HTTP/2.

use futures_util::future::join_all;
use hyper::http::request::Builder;
use puppet::PATIENCE;
use serde_json::json;
use test_authority::Authority;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Semaphore,
    time::timeout,
};
use wire::message::stateless;

use crate::{
    site::Site,
    tls::{FILES, address_of, ask, config, http2, shake_hands},
    wasm::echo,
};

/// How many clients there are of each slow kind.
const SLOW: usize = 20;
/// How many other clients there are with HTTP/2; as many use HTTP/1.1.
const GOOD: usize = 4;
/// How many calls each of these makes.
const CALLS: usize = 50;
/// How long a slow client may take before it is disconnected. All handshakes of the test take less, also on a busy machine.
const SLOW_CLIENT_TIMEOUT: &str = "5s";

const HEAD: &str = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";

/// A call of a tool that returns `text`.
fn call(text: &str) -> String {
    stateless(
        "tools/call",
        json!({ "name": "t", "arguments": { "x": text } }),
    )
    .to_string()
}

fn post(url: &str) -> Builder {
    hyper::Request::post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "t")
}

/// Makes calls over one connection.
async fn good(site: &Site, authority: &Authority) {
    let address = address_of(site);
    let mut client = http2(shake_hands(address, authority, &[b"h2"]).await).await;
    let url = format!("https://{address}/mcp");
    for _ in 0..CALLS {
        let asked = timeout(PATIENCE, ask(&mut client, post(&url), call("a"))).await;
        let (status, _, body) = asked.expect("a response");
        assert_eq!(status, 200, "{body}");
    }
}

/// The same over HTTP/1.1.
async fn good_1(site: &Site, authority: &Authority) {
    let mut stream = shake_hands(address_of(site), authority, &[b"http/1.1"]).await;
    let body = call("a");
    let request = format!(
        "{HEAD}accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: t\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..CALLS {
        stream.write_all(request.as_bytes()).await.expect("a write");
        let mut response = String::new();
        while !response.contains("\"jsonrpc\"") {
            let mut part = [0; 4096];
            let read = timeout(PATIENCE, stream.read(&mut part)).await;
            let read = read.expect("a response").expect("a read");
            assert_ne!(read, 0, "{response}");
            response.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    }
}

/// Sends the beginning of something, and waits until the server has closed the connection.
async fn begins(site: &Site, authority: &Authority, part: &str) {
    let mut stream = shake_hands(address_of(site), authority, &[b"http/1.1"]).await;
    stream.write_all(part.as_bytes()).await.expect("a write");
    let mut rest = Vec::new();
    let ended = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    // Whether the server has said goodbye does not matter.
    drop(ended.expect("the end of the connection"));
}

/// Begins no handshake.
async fn says_nothing(site: &Site) {
    let mut stream = TcpStream::connect(address_of(site)).await;
    let stream = stream.as_mut().expect("a connection");
    let ended = timeout(PATIENCE, stream.read(&mut [0; 16])).await;
    drop(ended.expect("the end of the connection"));
}

/// Asks for much, and reads nothing of it until the others have made their calls.
async fn reads_nothing(site: &Site, authority: &Authority, url: &str, calls: &Semaphore) {
    let mut client = http2(shake_hands(address_of(site), authority, &[b"h2"]).await).await;
    let request = post(url).body(call(&"a".repeat(500_000)));
    let response = client.send_request(request.expect("a request")).await;
    calls.acquire().await.expect_err("they have been made");
    drop(response);
}

/// Resets what it has asked, again and again.
async fn resets(site: &Site, authority: &Authority, url: &str) {
    let mut client = http2(shake_hands(address_of(site), authority, &[b"h2"]).await).await;
    for _ in 0..200 {
        let request = post(url).body(call("a")).expect("a request");
        // The server may have closed the connection for it.
        if client.ready().await.is_err() {
            break;
        }
        drop(client.send_request(request));
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_disconnected_and_hold_up_no_others() {
    let authority = Authority::new();
    let (cert, key) = authority.sign(1);
    let wasm = echo(&["t"]);
    let files = [
        ("cert.pem", cert.as_bytes()),
        ("key.pem", key.as_bytes()),
        ("a.wasm", &*wasm),
    ];
    let limits = format!(
        "http = {{ head_time = \"{SLOW_CLIENT_TIMEOUT}\", body_time = \"{SLOW_CLIENT_TIMEOUT}\" }}\n"
    );
    let servlet = "[servlet.a]\nsource = \"a.wasm\"\n";
    let site = Site::start(&format!("{limits}{}{servlet}", config(FILES)), &files).await;
    let url = format!("https://{}/mcp", address_of(&site));
    let (site, authority, url) = (&site, &authority, &*url);
    let half = &*format!("{HEAD}content-length: 100\r\n\r\n{{");
    // Closed when the calls of the others have been made.
    let calls = &Semaphore::new(0);
    let slow = (0..SLOW).map(async |number| {
        let of_http2 = async {
            if number.is_multiple_of(4) {
                tokio::join!(
                    reads_nothing(site, authority, url, calls),
                    resets(site, authority, url)
                );
            }
        };
        tokio::join!(
            says_nothing(site),
            begins(site, authority, HEAD),
            begins(site, authority, half),
            of_http2,
        );
    });
    let good = (0..GOOD).map(async |_| {
        tokio::join!(good(site, authority), good_1(site, authority));
    });
    let good = async {
        join_all(good).await;
        calls.close();
    };
    tokio::join!(join_all(slow), good);
}
