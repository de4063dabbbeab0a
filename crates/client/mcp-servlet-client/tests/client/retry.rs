//! Requests that are sent again, and what the server learns of those that are given up.

use std::time::{Duration, Instant};

use mcp_servlet_client::{
    CallOptions, Era, Error, ErrorKind, Event, Http, HttpTransport, List, Options, Retry, Session,
};
use puppet::{Proxy, Puppet};
use serde_json::{Value, json};

use crate::support::{arrived, attach_with};

const PAUSE: Duration = Duration::from_millis(10);

/// A server with two tools, which fails at first.
fn server() -> Puppet {
    let busy = json!({ "status": 503 });
    let text = json!({ "result": { "content": [{ "type": "text", "text": "ran" }] } });
    let contents = json!({ "result": { "contents": [{ "uri": "a:b", "text": "x" }] } });
    let tools = json!([
        { "name": "safe", "inputSchema": {}, "annotations": { "idempotentHint": true } },
        { "name": "unsafe", "inputSchema": {}, "annotations": { "destructiveHint": true } },
    ]);
    let script = json!({
        "versions": ["2025-11-25"],
        "replies": {
            "tools/list": [{ "result": { "tools": tools } }],
            "tools/call": [busy, text],
            "resources/read": [busy, busy, contents],
        },
    });
    Puppet::with(serde_json::from_value(script).expect("a script"))
}

async fn connect(puppet: &Puppet, retry: Retry) -> Session {
    let target = format!("http://{}/mcp", puppet.http().await).parse();
    let options = Options::new().retry(retry);
    let session = Session::connect_with(&target.expect("a URL"), &options).await;
    session.expect("a session")
}

#[tokio::test]
async fn a_request_that_only_reads_is_sent_as_often_as_the_options_say() {
    let puppet = server();
    let session = connect(&puppet, Retry::times(2, PAUSE)).await;
    session.read("a:b").await.expect("contents");
    assert_eq!(puppet.received("resources/read"), 3);

    let puppet = server();
    let session = connect(&puppet, Retry::times(1, PAUSE)).await;
    let error = session.read("a:b").await.expect_err("too few attempts");
    assert_eq!(error.kind(), ErrorKind::RetryExhausted, "{error}");
    assert_eq!(error.attempts(), Some(2));
    assert_eq!(error.operation(), Some("resources/read"));

    let puppet = server();
    let session = connect(&puppet, Retry::never()).await;
    let error = session.read("a:b").await.expect_err("one attempt");
    assert_eq!(error.http_status(), Some(503), "{error}");
    assert_eq!(puppet.received("resources/read"), 1);
}

#[tokio::test]
async fn a_call_is_sent_again_only_if_the_caller_and_the_tool_allow_it() {
    for (tool, options, is_repeated) in [
        ("safe", CallOptions::new(), false),
        ("safe", CallOptions::new().trust_hints(), true),
        ("unsafe", CallOptions::new().trust_hints(), false),
        ("missing", CallOptions::new().trust_hints(), false),
        ("unsafe", CallOptions::new().idempotent(), true),
    ] {
        let puppet = server();
        let session = connect(&puppet, Retry::times(2, PAUSE)).await;
        let result: Result<_, Error> = session.call_with(tool, Value::Null, &options).await;
        assert_eq!(result.is_ok(), is_repeated, "{tool} {options:?}");
        let calls = if is_repeated { 2 } else { 1 };
        assert_eq!(puppet.received("tools/call"), calls, "{tool} {options:?}");
    }
}

#[tokio::test]
async fn a_text_that_is_no_uri_is_not_sent() {
    let puppet = server();
    let session = connect(&puppet, Retry::never()).await;
    for text in ["readme", "/readme", "a b:c", ""] {
        let error = session.read(text).await.expect_err("no URI");
        assert_eq!(error.kind(), ErrorKind::InvalidUri, "{error}");
        assert!(error.message().contains("is not a URI"), "{error}");
    }
    assert_eq!(puppet.received("resources/read"), 0);
}

#[tokio::test]
async fn a_reading_has_the_meta_of_its_options() {
    let puppet = server();
    let session = connect(&puppet, Retry::times(2, PAUSE)).await;
    let meta = json!({ "tenant": "a", "example.com/x": [1] });
    let options = CallOptions::new().meta(meta.as_object().expect("an object").clone());
    session.read_with("a:b", &options).await.expect("contents");
    let request = arrived(&puppet, "resources/read").await;
    assert_eq!(request["params"]["_meta"]["tenant"], "a");
    assert_eq!(request["params"]["_meta"]["example.com/x"], json!([1]));
}

#[tokio::test]
async fn the_server_learns_of_a_request_that_was_given_up_before_the_session_closes() {
    let options = Options::new().era(Era::Handshake);
    let (pipe, at_pipe) = attach_with("slow", &options).await;
    let mut sessions = vec![(pipe, at_pipe)];
    for (path, transport) in [
        ("mcp", HttpTransport::Streamable),
        ("sse", HttpTransport::Sse),
    ] {
        let puppet = Puppet::new("slow");
        let http = Http::new(&format!("http://{}/{path}", puppet.http().await));
        let http = http.expect("a URL").transport(transport);
        let session = Session::connect_with(&http.into(), &options).await;
        sessions.push((session.expect("a session"), puppet));
    }
    for (session, puppet) in sessions {
        let options = CallOptions::new().timeout(Duration::from_millis(50));
        let error = session.call_with("any", Value::Null, &options).await;
        let error = error.expect_err("a timeout");
        assert_eq!(error.kind(), ErrorKind::RequestTimeout, "{error}");
        session.close().await;
        let log = puppet.log();
        let is_told = |one: &Value| one["method"] == "notifications/cancelled";
        assert!(log.iter().any(is_told), "{log:?}");
    }
}

/// A session over HTTP+SSE through a proxy.
async fn connect_sse(puppet: &Puppet, retry: Retry) -> (Session, Proxy) {
    let proxy = Proxy::start(puppet.http().await).await;
    let http = Http::new(&format!("http://{}/sse", proxy.address())).expect("a URL");
    let target = http.transport(HttpTransport::Sse).into();
    let session = Session::connect_with(&target, &Options::new().retry(retry)).await;
    (session.expect("a session"), proxy)
}

#[tokio::test]
async fn an_event_stream_that_ends_is_opened_again_after_a_pause() {
    let puppet = Puppet::new("slow");
    let (session, proxy) = connect_sse(&puppet, Retry::never()).await;
    let mut events = session.events();
    let breaking = async {
        arrived(&puppet, "tools/call").await;
        proxy.close_all();
        Instant::now()
    };
    let (called, broken) = tokio::join!(session.call("any", Value::Null), breaking);
    let error = called.expect_err("its answer is lost");
    assert_eq!(error.kind(), ErrorKind::Connectivity, "{error}");
    session.ping().await.expect("a new session");
    let passed = broken.elapsed();
    assert!(passed >= Duration::from_millis(450), "{passed:?}");
    assert_eq!(puppet.received("initialize"), 2);
    assert_eq!(puppet.received("notifications/initialized"), 2);
    assert_eq!(puppet.received("tools/call"), 1);
    let event = events.next().await.expect("an event");
    assert!(matches!(event, Ok(Event::SessionRenewed)), "{event:?}");
    assert!(!session.has_ended());
}

#[tokio::test]
async fn a_list_goes_on_after_its_event_stream_has_ended() {
    let puppet = server();
    let (session, proxy) = connect_sse(&puppet, Retry::never()).await;
    proxy.drop_responses(1);
    let page = session.page(List::Tools, None).await.expect("a list");
    assert_eq!(page.entries.len(), 2);
}

#[tokio::test]
async fn a_server_that_is_gone_ends_the_session() {
    let puppet = Puppet::new("plain");
    let (session, proxy) = connect_sse(&puppet, Retry::times(1, PAUSE)).await;
    proxy.refuse();
    proxy.close_all();
    let error = session.ping().await.expect_err("a server that is gone");
    assert_eq!(error.kind(), ErrorKind::Connectivity, "{error}");
    assert!(session.has_ended());
}
