//! Sessions over streamable HTTP.

use std::time::{Duration, Instant};

use mcp_servlet_client::{
    CallOptions, Era, Error, ErrorKind, Http, HttpTransport, Limits, Options, Session, Target,
};
use puppet::{PATIENCE, Puppet, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{
    ERAS, attach, connect_http, count_tools, ends_during_a_call, http_target, lists_json, url,
};

/// The error of connecting to a server that answers `initialize` like this.
async fn refused(reply: Value) -> Error {
    let script = json!({ "versions": ["2025-11-25"], "replies": { "initialize": [reply] } });
    let (url, _) = url(script).await;
    let http = Http::new(&url)
        .expect("a URL")
        .transport(HttpTransport::Streamable);
    Session::connect(&http.into()).await.expect_err("an error")
}

/// The error of a call that the server answers like this.
async fn call_error(reply: Value) -> Error {
    let (url, _) = url(json!({ "replies": { "tools/call": [reply] } })).await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let session = session.expect("a session");
    session
        .call("any", Value::Null)
        .await
        .expect_err("an error")
}

#[tokio::test]
async fn a_body_may_begin_with_a_byte_order_mark() {
    let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"read\"}]}}";
    let (url, _) = url(json!({ "replies": { "tools/call": [{ "line": line }] } })).await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let called = session.expect("a session").call("any", Value::Null).await;
    assert_eq!(called.expect("a result").text(), "read");
}

#[tokio::test]
async fn lists_over_http_are_those_over_streams() {
    for script in [
        "plain",
        "exact",
        "five-pages",
        "odd-capabilities",
        "streams",
        "bad-entries",
    ] {
        for era in ERAS {
            if script == "streams" && era == Era::Stateless {
                continue;
            }
            let options = Options::new().era(era);
            let puppet = Puppet::new(script);
            let (reader, writer) = puppet.pipe();
            let pipe = Session::attach(reader, writer, &options)
                .await
                .expect("a session");
            let (target, _) = http_target(script).await;
            let http = Session::connect_with(&target, &options)
                .await
                .expect("a session");
            assert_eq!(lists_json(&http).await, lists_json(&pipe).await, "{script}");
            http.close().await;
        }
    }
}

#[tokio::test]
async fn a_url_without_a_path_is_the_one_of_mcp() {
    let puppet = Puppet::new("plain");
    let address = puppet.http().await;
    for text in [format!("http://{address}"), format!("http://{address}/mcp")] {
        let target: Target = text.parse().expect("a URL");
        let session = Session::connect(&target).await.expect("a session");
        assert_eq!(count_tools(&session).await, 1);
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_probe_with_400_gets_the_handshake() {
    let (session, puppet) = connect_http("streams").await;
    assert_eq!(session.server().protocol, "2025-11-25");
    assert_eq!(puppet.received("server/discover"), 1);
    assert_eq!(puppet.received("initialize"), 1);
}

#[tokio::test]
async fn a_probe_without_a_usable_answer_leads_to_the_handshake() {
    let event_stream = json!({ "content-type": "text/event-stream" });
    for reply in [
        json!({ "status": 202 }),
        json!({ "status": 204 }),
        json!({ "status": 500 }),
        json!({ "status": 500, "body": "no such method" }),
        json!({ "status": 501 }),
        json!({ "status": 200, "headers": event_stream }),
        json!({ "status": 200, "headers": event_stream, "body": ": hello\n\n" }),
        json!({ "status": 200, "headers": event_stream, "body": "data: hello\n\n" }),
        json!({ "status": 200, "headers": event_stream, "body": "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n" }),
        json!({ "result": { "supportedVersions": ["2025-11-25", "2025-06-18"], "capabilities": {} } }),
        json!({ "result": { "supportedVersions": [], "capabilities": {} } }),
        json!({ "result": { "supportedVersions": ["2026-07-28"], "capabilities": { "tools": 5 } } }),
    ] {
        let (url, puppet) = url(json!({ "replies": { "server/discover": [reply] } })).await;
        let session = Session::connect(&url.parse().expect("a URL")).await;
        let session = session.unwrap_or_else(|error| panic!("{reply}: {error}"));
        assert_eq!(session.server().protocol, "2025-11-25", "{reply}");
        assert_eq!(puppet.received("initialize"), 1, "{reply}");
    }
}

#[tokio::test]
async fn a_handshake_without_a_usable_answer_says_what_is_wrong() {
    let event_stream = json!({ "content-type": "text/event-stream" });
    let info = json!({ "name": "f", "version": "1" });
    let result = |capabilities: Value| json!({ "result": { "protocolVersion": "2025-11-25", "serverInfo": info, "capabilities": capabilities } });
    for (reply, message) in [
        (
            json!({ "status": 202 }),
            "expected a JSON-RPC message, found nothing",
        ),
        (
            json!({ "status": 200, "headers": event_stream }),
            "expected a JSON-RPC message, found nothing",
        ),
        (
            result(json!({ "tools": { "listChanged": "yes" } })),
            "the result of `initialize` is wrong: expected a boolean in `capabilities.tools.listChanged`, found a string",
        ),
    ] {
        let error = refused(reply.clone()).await;
        assert!(error.message().starts_with(message), "{reply}: {error}");
    }
}

#[tokio::test]
async fn a_session_is_deleted_at_the_end() {
    let (target, puppet) = http_target("plain").await;
    let options = Options::new().era(Era::Handshake);
    let session = Session::connect_with(&target, &options)
        .await
        .expect("a session");
    session.ping().await.expect("an answer");
    session.close().await;
    let last = puppet.log().pop().expect("an entry");
    assert_eq!(last, json!({ "http": "DELETE", "session": "session-1" }));
}

#[tokio::test]
async fn a_common_stream_that_never_opens_blocks_nothing() {
    let (session, _) = connect_http("hangs-on-get").await;
    let lists = session.lists().await.expect("lists");
    assert_eq!(lists.tools.map(|tools| tools.len()), Some(1));
    session.close().await;
}

#[tokio::test]
async fn an_event_stream_that_ends_too_early_is_a_broken_connection() {
    let (session, puppet) = connect_http("streams").await;
    ends_during_a_call(&session, &puppet).await;
}

#[tokio::test]
async fn a_stream_that_ends_early_is_resumed_after_its_last_event() {
    for era in ERAS {
        let (target, puppet) = http_target("resumes").await;
        let options = Options::new().era(era);
        let session = Session::connect_with(&target, &options).await;
        let session = session.expect("a session");
        let start = Instant::now();
        let result = session.call("any", Value::Null).await.expect("a result");
        assert_eq!(result.text(), "late", "{era:?}");
        let passed = start.elapsed();
        assert!(passed >= Duration::from_millis(100), "{passed:?}");
        let resumed = json!({ "http": "GET", "after": "event-1" });
        assert!(puppet.log().contains(&resumed), "{era:?}");
        assert_eq!(puppet.received("tools/call"), 1);
        assert_eq!(session.waiting(), 0);
    }
}

#[tokio::test]
async fn headers_and_credentials_arrive_and_are_never_shown() {
    // The tests share one process, so the variable is one that every process has.
    let secret = std::env::var("PATH").expect("a path");
    let (url, puppet) = url(json!({ "replies": { "tools/call": [{ "status": 401 }] } })).await;
    let http = Http::new(&url).expect("a URL");
    let http = http.header("X-A", "a-${PATH}").expect("a header");
    let http = http.bearer_env("PATH").expect("a token");
    let session = Session::connect(&http.clone().into())
        .await
        .expect("a session");
    let log = puppet.log();
    assert_eq!(
        log[0]["headers"]["authorization"],
        format!("Bearer {secret}")
    );
    assert_eq!(log[0]["headers"]["x-a"], format!("a-{secret}"));
    let error = session
        .call("any", Value::Null)
        .await
        .expect_err("an error");
    for text in [
        format!("{error} {error:?}"),
        format!("{http:?}"),
        format!("{session:?}"),
    ] {
        assert!(!text.contains(&secret), "{text}");
    }
}

#[tokio::test]
async fn user_and_password_arrive() {
    let (url, puppet) = url(json!({})).await;
    let http = Http::new(&url)
        .expect("a URL")
        .basic_env("me", "CARGO_PKG_NAME");
    Session::connect(&http.expect("a password").into())
        .await
        .expect("a session");
    assert_eq!(
        puppet.log()[0]["headers"]["authorization"],
        "Basic bWU6bWNwLXNlcnZsZXQtY2xpZW50"
    );
}

#[tokio::test]
async fn missing_and_wrong_credentials_are_their_own_error() {
    for reply in [
        json!({ "status": 401 }),
        json!({ "status": 401, "headers": { "www-authenticate": "Bearer" } }),
        json!({ "status": 403, "headers": { "www-authenticate": "Bearer scope=\"x\"" } }),
    ] {
        let error = refused(reply).await;
        assert_eq!(error.kind(), ErrorKind::Authentication, "{error}");
        assert_eq!(error.kind().exit_code(), 13);
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("`servlet login http://")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_redirect_that_keeps_body_and_origin_is_followed() {
    for status in [307, 308] {
        let moved = json!({ "status": status, "headers": { "location": "/mcp/moved" } });
        let list = json!({ "result": { "tools": [] } });
        let replies = json!({ "tools/list": [moved, list] });
        let (url, puppet) =
            url(json!({ "capabilities": { "tools": {} }, "replies": replies })).await;
        let session = Session::connect(&url.parse().expect("a URL"))
            .await
            .expect("a session");
        assert!(session.lists().await.is_ok());
        assert_eq!(puppet.received("tools/list"), 2);
    }
}

#[tokio::test]
async fn any_other_redirect_is_an_error_that_names_the_url() {
    for (status, location) in [
        (302, "/mcp/moved?secret=1"),
        (307, "http://127.0.0.2:9/mcp/moved?secret=1"),
    ] {
        let error =
            call_error(json!({ "status": status, "headers": { "location": location } })).await;
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        let text = error.to_string();
        assert!(
            text.contains("/mcp/moved`") && !text.contains("secret"),
            "{text}"
        );
        assert_eq!(error.http_status(), Some(status));
    }
}

#[tokio::test]
async fn statuses_and_bodies_have_their_kinds() {
    let json = json!({ "content-type": "application/json" });
    let not_found = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"gone"}}"#;
    for (reply, kind, text) in [
        (
            json!({ "status": 500, "body": "oh" }),
            ErrorKind::Connectivity,
            "HTTP 500 Internal Server Error: oh",
        ),
        (
            json!({ "status": 503, "headers": { "retry-after": "7" } }),
            ErrorKind::Connectivity,
            "try again later",
        ),
        (
            json!({ "status": 429 }),
            ErrorKind::Connectivity,
            "try again later",
        ),
        (json!({ "status": 418 }), ErrorKind::Protocol, "HTTP 418"),
        (
            json!({ "status": 404, "headers": json, "body": not_found }),
            ErrorKind::MethodNotFound,
            "gone",
        ),
        (
            json!({ "status": 500, "headers": json, "body": not_found }),
            ErrorKind::MethodNotFound,
            "gone",
        ),
        (
            json!({ "status": 200, "headers": json, "body": "<html>" }),
            ErrorKind::ParseError,
            "expected a JSON-RPC message, found `<html>`",
        ),
        (
            json!({ "status": 200, "headers": { "content-type": "text/html" } }),
            ErrorKind::Protocol,
            "found `text/html`",
        ),
    ] {
        let error = call_error(reply.clone()).await;
        assert_eq!(error.kind(), kind, "{reply}: {error}");
        assert!(error.to_string().contains(text), "{reply}: {error}");
        if reply["status"] == 503 {
            assert_eq!(error.retry_after(), Some("7"));
        }
    }
}

/// The reply with an event stream, whose events have no id because the puppet does not fill them.
fn stream(body: &str) -> Value {
    json!({ "status": 200, "headers": { "content-type": "text/event-stream" }, "body": body })
}

#[tokio::test]
async fn what_is_no_message_in_an_event_stream_is_ignored() {
    let result =
        r#"{"jsonrpc":"2.0","id":null,"result":{"content":[{"type":"text","text":"read"}]}}"#;
    for before in [
        "event: ping\ndata: {}\n\n",
        "event: heartbeat\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n\n",
        "data: {}\n\n",
        "data: {\"type\":\"ping\"}\n\n",
        "data: alive\n\n",
        "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"content\":[]}}\n\n",
        "foo: bar\nretry: abc\nid: 1\nid: 2\njunk\n",
    ] {
        let reply = stream(&format!("{before}data: {result}\n\n"));
        let (url, _) = url(json!({ "replies": { "tools/call": [reply] } })).await;
        let session = Session::connect(&url.parse().expect("a URL")).await;
        let called = session.expect("a session").call("any", Value::Null).await;
        let called = called.unwrap_or_else(|error| panic!("{before}: {error}"));
        assert_eq!(called.text(), "read", "{before}");
    }
}

#[tokio::test]
async fn a_stream_without_the_response_says_what_came_instead() {
    for (body, kind, message) in [
        (
            "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":NaN}\n\n",
            ErrorKind::ParseError,
            "expected a JSON-RPC message, found `{",
        ),
        (
            "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{\"content\":[]}}\n\n",
            ErrorKind::Connectivity,
            "the server sent the response to another request, with the id 99",
        ),
    ] {
        let error = call_error(stream(body)).await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn a_body_may_be_a_batch() {
    let line = r#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"read"}]}}]"#;
    for sse in [false, true] {
        let reply = json!({ "line": line, "sse": sse });
        let (url, _) = url(json!({ "replies": { "tools/call": [reply] } })).await;
        let session = Session::connect(&url.parse().expect("a URL")).await;
        let called = session.expect("a session").call("any", Value::Null).await;
        assert_eq!(called.expect("a result").text(), "read");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_the_probe_gets_the_handshake() {
    for reply in [json!({}), json!({ "sse": true })] {
        let (url, _) = url(json!({ "replies": { "server/discover": [reply] } })).await;
        let session = Session::connect(&url.parse().expect("a URL")).await;
        assert_eq!(session.expect("a session").server().protocol, "2025-11-25");
    }
}

#[tokio::test]
async fn a_refused_connection_is_named_without_secrets() {
    let target: Target = "http://user:hunter2@127.0.0.1:1/mcp?hunter2"
        .parse()
        .expect("a URL");
    let error = Session::connect(&target).await.expect_err("nobody");
    assert_eq!(error.kind(), ErrorKind::Connectivity);
    let text = error.to_string();
    assert!(
        text.contains("cannot connect: Connection refused"),
        "{text}"
    );
    assert!(
        text.contains("`http://127.0.0.1:1/mcp`") && !text.contains("hunter2"),
        "{text}"
    );
}

#[tokio::test]
async fn a_body_or_an_event_above_the_limit_is_an_error_at_once() {
    let mut limits = Limits::default();
    limits.message = 10_000;
    let text = json!({ "$repeat": ["x", 10_000] });
    for sse in [false, true] {
        let reply =
            json!({ "sse": sse, "result": { "content": [{ "type": "text", "text": text }] } });
        let (url, _) = url(json!({ "replies": { "tools/call": [reply] } })).await;
        let options = Options::new().limits(limits);
        let session = Session::connect_with(&url.parse().expect("a URL"), &options).await;
        let session = session.expect("a session");
        let error = session.call("any", Value::Null).await.expect_err("a limit");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        session.ping().await.expect("the session goes on");
        assert_eq!(session.waiting(), 0);
    }
}

#[tokio::test]
async fn a_call_whose_headers_do_not_fit_is_sent_again_after_a_list() {
    let (session, puppet) = connect_http("header-mismatch").await;
    let result = session.call("query", json!({ "region": "north" })).await;
    assert_eq!(result.expect("a result").text(), "ran");
    assert_eq!(
        (puppet.received("tools/call"), puppet.received("tools/list")),
        (2, 2),
        "the tool is on the second page"
    );
    let log = puppet.log();
    let regions: Vec<_> = log
        .iter()
        .filter(|one| one["headers"]["mcp-method"] == "tools/call")
        .map(|one| &one["headers"]["mcp-param-region"])
        .collect();
    assert_eq!(regions, [&Value::Null, &json!("north")]);
}

#[tokio::test]
async fn a_request_over_http_can_time_out() {
    for era in ERAS {
        let (target, _) = http_target("slow").await;
        let options = Options::new().era(era);
        let session = Session::connect_with(&target, &options)
            .await
            .expect("a session");
        let options = CallOptions::new().timeout(Duration::from_millis(50));
        let error = session.call_with("any", Value::Null, &options).await;
        assert_eq!(
            error.expect_err("a timeout").kind(),
            ErrorKind::RequestTimeout
        );
        assert_eq!(session.waiting(), 0);
        session.lists().await.expect("the session goes on");
    }
}

#[tokio::test]
async fn a_request_waits_for_no_other() {
    for era in ERAS {
        let (target, puppet) = http_target("slow").await;
        let options = Options::new().era(era);
        let session = Session::connect_with(&target, &options)
            .await
            .expect("a session");
        let calls = (0..32).map(|_| session.call("any", Value::Null));
        let calls = futures_util::future::join_all(calls);
        let others = async {
            let all = async || puppet.received("tools/call") == 32;
            eventually("all calls arrive", all).await;
            session.ping().await.expect("an answer");
        };
        let others = timeout(PATIENCE, others);
        tokio::select! {
            _ = calls => panic!("they are never answered"),
            others = others => others.expect("all calls arrive, and the ping is answered"),
        }
    }
}

#[tokio::test]
async fn results_over_http_are_those_over_streams() {
    let (pipe, _) = attach("contents").await;
    let (http, _) = connect_http("contents").await;
    let raw = async |session: &Session| {
        let result = session.call("any", Value::Null).await.expect("a result");
        result.raw.get().to_owned()
    };
    assert_eq!(raw(&http).await, raw(&pipe).await);
}

/// A call in a session that the server has lost, and how often the server got `initialize`.
async fn call_in_lost_session(status: u16, body: &str) -> (Result<String, Error>, usize) {
    let kind = match body.chars().next() {
        Some('{') => "application/json",
        Some(':') => "text/event-stream",
        _ => "text/plain",
    };
    let (url, puppet) = url(json!({
        "versions": ["2025-11-25"],
        "sessions": { "first_lasts": 1, "others_last": null },
        "lost_session": { "status": status, "headers": { "content-type": kind }, "body": body },
        "replies": { "tools/call": [{ "result": { "content": [{ "type": "text", "text": "again" }] } }] },
    }))
    .await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let result = session.expect("a session").call("any", Value::Null).await;
    (
        result.map(|result| result.text()),
        puppet.received("initialize"),
    )
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "it is a table")]
async fn a_lost_session_is_replaced_however_the_server_says_so() {
    let error = |code: i64, message: &str| {
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } })
            .to_string()
    };
    for (status, body) in [
        (404, String::new()),
        (410, error(-32001, "gone")),
        (
            400,
            error(-32000, "Bad Request: No valid session ID provided"),
        ),
        (400, error(-32000, "Bad Request: Server not initialized")),
        (400, error(-32001, "unknown")),
        (400, "No active session".to_owned()),
        (401, "Unauthorized: Session not found".to_owned()),
        (403, error(-32000, "Session terminated")),
        (409, r#"{"error":"unknown session"}"#.to_owned()),
        (422, error(-32602, "Session not found")),
        (500, error(-32603, "Session not found")),
        (500, "no session with this id".to_owned()),
        (200, error(-32001, "Session not found")),
        (200, error(-32600, "Server not initialized")),
        (200, error(-32603, "Session expired")),
        (200, error(0, "Invalid session id")),
        (200, error(-32602, "Session not found")),
        (200, error(-32000, "No such session")),
        (200, error(-32001, "Not found")),
        (
            200,
            r#"{"jsonrpc":"2.0","id":1,"error":"Session not found"}"#.to_owned(),
        ),
        (
            200,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"data":{"session":"a"}}}"#
                .to_owned(),
        ),
        (400, error(-32000, "No transport found for sessionId")),
        (
            200,
            error(
                -32602,
                "Received request before initialization was complete",
            ),
        ),
        (
            200,
            format!(
                ": hello\n\nid: 1\ndata:\n\ndata: {}\n\n",
                error(-32001, "Session not found")
            ),
        ),
    ] {
        let (result, handshakes) = call_in_lost_session(status, &body).await;
        assert_eq!(result.expect("a result"), "again", "{status} {body}");
        assert_eq!(handshakes, 2, "{status} {body}");
    }
    for (status, body) in [
        (400, error(-32602, "no such city")),
        (400, "no such city".to_owned()),
        (200, error(-32001, "Request timed out")),
        (200, error(-32000, "too many sessions for this user")),
        (200, error(-32602, "argument `session` is missing")),
        (401, "session expired".to_owned()),
        // The sessions of tools.
        (200, error(-32603, "engine not initialized")),
        (200, error(-32000, "Browser session not found")),
        (
            200,
            error(-32000, "SSH session was closed by the remote host"),
        ),
        (200, error(-32602, "Session `abc` does not exist")),
        (200, error(-32002, "Resource not found: session://1")),
        (200, error(1, "invalid session token for Spotify")),
        (500, "database session closed".to_owned()),
        (400, String::new()),
        (500, error(-32603, "no such city")),
    ] {
        let (result, handshakes) = call_in_lost_session(status, &body).await;
        result.expect_err("an error");
        assert_eq!(handshakes, 1, "{status} {body}");
    }
}

#[tokio::test]
async fn an_error_that_a_new_session_does_not_mend_is_shown() {
    let error = json!({ "code": -32603, "message": "Session not found" });
    let (url, puppet) = url(json!({
        "versions": ["2025-11-25"],
        "sessions": { "first_lasts": null, "others_last": null },
        "replies": { "tools/call": [{ "error": error }] },
    }))
    .await;
    let session = Session::connect(&url.parse().expect("a URL")).await;
    let session = session.expect("a session");
    for calls in [2, 4] {
        let error = session.call("any", Value::Null).await;
        let error = error.expect_err("an error");
        assert_eq!(
            (error.code(), error.message()),
            (Some(-32603), "Session not found")
        );
        assert_eq!(puppet.received("tools/call"), calls);
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_end_of_the_handshake_is_quoted() {
    let (url, _) = url(json!({
        "versions": ["2025-11-25"],
        "sessions": { "first_lasts": 0, "others_last": null },
        "lost_session": {
            "status": 405,
            "headers": { "content-type": "application/json" },
            "body": r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no notifications"}}"#,
        },
    }))
    .await;
    let target = Http::new(&url)
        .expect("a URL")
        .transport(HttpTransport::Streamable);
    let error = Session::connect(&target.into())
        .await
        .expect_err("no session");
    assert_eq!(error.message(), "no notifications (HTTP 405)");
    assert_eq!(error.operation(), Some("notifications/initialized"));
}
