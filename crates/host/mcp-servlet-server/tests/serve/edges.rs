//! Requests that bend the rules of MCP, and answers that such clients can read.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use mcp_servlet_call::Limits;
use mcp_servlet_host::Host;
use serde_json::json;
use wire::Http;

use crate::{
    client::Served,
    log::{LOG, start_log},
    support::{DESCRIPTION, Wat},
};

fn serve(description: &str, answer: &str) -> Served {
    let servlet = Wat::new().describe(description).answer(answer).load();
    Served::start(Host::new(vec![servlet.expect("a servlet")]))
}

fn plain() -> Served {
    serve(DESCRIPTION, r#"{"content":[]}"#)
}

/// The status of a list for a client.
fn list(client: &Http) -> u16 {
    client.ask("tools/list", json!({})).status()
}

#[test]
fn clients_that_accept_any_media_type_get_a_response() {
    let served = plain();
    for accept in [
        "*/*",
        "text/html, */*;q=0.8",
        "application/json, text/event-stream",
    ] {
        assert_eq!(list(&served.http.with("accept", accept)), 200, "{accept}");
    }
    assert_eq!(list(&served.http.with("accept", "text/html")), 406);
}

#[test]
fn a_request_names_one_host_and_one_origin() {
    let served = plain();
    let status = |target: &str, headers: &str| {
        let mut stream = TcpStream::connect(served.http.address()).expect("a connection");
        let head = format!("OPTIONS {target} HTTP/1.1\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("a write");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer[9..]).into_owned()
    };
    // The host and the origin are checked before the method.
    for (target, headers, expected) in [
        ("/mcp", "host: localhost", "405"),
        ("http://localhost/mcp", "host: localhost", "405"),
        ("/mcp", "host: evil.example", "403"),
        ("/mcp", "accept: */*", "400"),
        ("/mcp", "host: localhost\r\nhost: evil.example", "400"),
        ("/mcp", "host: user@localhost", "400"),
        ("/mcp", "host: localhost:1.evil.example", "400"),
        ("/mcp", "host: localhost:99999", "400"),
        ("http://evil.example/mcp", "host: localhost", "400"),
        (
            "/mcp",
            "host: localhost\r\norigin: http://localhost:8080",
            "405",
        ),
        ("/mcp", "host: localhost\r\norigin: null", "403"),
        (
            "/mcp",
            "host: localhost\r\norigin: http://localhost:80x",
            "400",
        ),
        (
            "/mcp",
            "host: localhost\r\norigin: http://localhost:*",
            "400",
        ),
        (
            "/mcp",
            "host: localhost\r\norigin: http://localhost\r\norigin: http://evil.example",
            "400",
        ),
    ] {
        assert_eq!(status(target, headers), expected, "{target}: {headers}");
    }
}

#[test]
fn endpoint_accepts_a_trailing_slash_and_other_paths_name_it() {
    let served = plain();
    assert_eq!(list(&served.http.at("/mcp/")), 200);
    for (method, path) in [
        ("GET", "/"),
        ("POST", "/"),
        ("GET", "/sse"),
        ("POST", "/v1/mcp"),
    ] {
        let answer = served.http.at(path).send(method, "");
        assert_eq!(answer.status(), 404, "{path}");
        assert!(answer.text().contains("its endpoint is /mcp"), "{answer:?}");
    }
}

#[test]
fn a_refused_name_or_origin_is_answered_and_logged_with_the_option_that_allows_it() {
    start_log();
    for (header, value, option) in [
        ("host", "mcp.example", "`--http-name mcp.example`"),
        ("host", "mcp.example:8080", "`--http-name mcp.example`"),
        (
            "origin",
            "https://app.example",
            "`--http-origin https://app.example`",
        ),
    ] {
        let served = plain();
        let client = served.http.with(header, value);
        let refused = client.ask("tools/list", json!({}));
        assert_eq!(refused.status(), 403);
        let counted = r#"servlet_refused_total{what="sender"} 1"#;
        assert!(served.service.metrics().contains(counted));
        assert!(refused.text().contains(option), "{refused:?}");
        let logged = LOG.lock().expect("no panic");
        let logged = String::from_utf8_lossy(&logged);
        let mut lines = logged.lines();
        assert!(
            lines.any(|line| line.contains(value) && line.contains(option)),
            "{logged}"
        );
    }
}

#[test]
fn reports_the_position_and_the_reason_of_an_invalid_message() {
    let served = plain();
    let message = |body: &str| {
        let refused = served.http.post_text(body);
        assert_eq!(refused.status(), 400, "{body}");
        refused.message()["error"]["message"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    let broken = message("{\"jsonrpc\": \"2.0\",\n oops}");
    assert!(broken.contains("line 2 column 2"), "{broken}");
    // Valid JSON, but the number is too large for rmcp.
    let large = message(r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":1e400}}"#);
    assert!(large.contains("number out of range"), "{large}");
}

#[test]
fn responses_without_earlier_messages_are_json_in_sessions() {
    let text = "x".repeat(50_000);
    let answer = json!({"content": [{"type": "text", "text": text}]}).to_string();
    let served = serve(DESCRIPTION, &answer);
    let opened = served.http.initialize();
    assert!(opened.text().starts_with('{'), "{opened:?}");
    assert_eq!(opened.header("content-type"), Some("application/json"));
    let session = served.open();
    let called = session.ask("tools/call", json!({"name": "t"}));
    assert_eq!(called.header("content-type"), Some("application/json"));
    assert_eq!(
        called.message()["result"]["content"][0]["text"],
        text.as_str()
    );
    let wrong = session.ask("tools/call", json!({"name": "nope"}));
    assert_eq!(wrong.header("content-type"), Some("application/json"));
    assert_eq!(wrong.code(), (200, -32602));
}

#[test]
fn a_thousand_tools_are_on_the_first_page() {
    let tools: Vec<_> = (0..1000)
        .map(|at| json!({"name": format!("t{at}"), "inputSchema": {"type": "object"}}))
        .collect();
    let served = serve(&json!({"tools": tools}).to_string(), "{}");
    let listed = served.ask("tools/list", json!({})).message();
    assert_eq!(
        listed["result"]["tools"].as_array().map(Vec::len),
        Some(1000)
    );
    assert_eq!(listed["result"].get("nextCursor"), None);
}

#[test]
fn largest_response_is_within_the_line_limit_of_clients() {
    // The official TypeScript SDK and others accept lines up to 10 MiB.
    let limit = Limits::DEFAULT.output.value().expect("a limit");
    assert!(limit + (1 << 20) <= 10 << 20, "{limit}");
}
