//! HTTP+SSE: sessions, refusals and limits.

use std::io::{BufRead as _, BufReader};

use mcp_servlet_client::Event;
use puppet::eventually;
use serde_json::{Value, json};
use ureq::{Body, BodyReader, http::Response};

use crate::{
    http::{INITIALIZE, send},
    site::{OLD, Site, WEB, Way, next_event, tools},
    support::Wat,
    time::asking,
    wasm::{describe, servlet},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

async fn site(more: &str) -> Site {
    let config = format!("{WEB}{OLD}{more}{A}");
    Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await
}

/// An open stream, and the URL for its messages.
pub(crate) struct Stream {
    lines: std::io::Lines<BufReader<BodyReader<'static>>>,
    pub(crate) url: String,
}

impl Stream {
    pub(crate) fn open(site: &Site) -> Self {
        Self::of(send("GET", site.url("old"), &[], ""), site)
    }

    pub(crate) fn of(response: Response<Body>, site: &Site) -> Self {
        assert_eq!(response.status(), 200);
        let mut lines = BufReader::new(response.into_body().into_reader()).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        assert_eq!(line(), "event: endpoint");
        let path = line().strip_prefix("data: ").expect("a path").to_owned();
        let root = site.url("old").trim_end_matches("/sse");
        let url = format!("{root}{path}");
        Self { lines, url }
    }

    pub(crate) fn post(&self, message: &str) -> u16 {
        send("POST", &self.url, &[JSON], message).status().as_u16()
    }

    /// The next message. None at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_accepted_and_answered_on_the_stream() {
    let site = site("").await;
    let mut stream = Stream::open(&site);
    assert_eq!(stream.post(INITIALIZE), 202);
    let opened = stream.next().expect("a message");
    assert_eq!(
        (&opened["id"], &opened["result"]["protocolVersion"]),
        (&json!(0), &json!("2025-11-25"))
    );
    assert_eq!(
        stream.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        202
    );
    let call =
        json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": "t" } });
    assert_eq!(stream.post(&call.to_string()), 202);
    let answer = stream.next().expect("a message");
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!("a"), &json!("a"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_get_a_status() {
    let site = site("hosts = [\"localhost\", \"127.0.0.1\"]\n").await;
    let stream = Stream::open(&site);
    let (sse, messages) = (site.url("old"), &*stream.url);
    let unknown = messages.split('?').next().expect("a path");
    let status = |method, url: &str, headers: &[(&str, &str)], body: &str| {
        send(method, url, headers, body).status().as_u16()
    };
    let gzip = [JSON, ("content-encoding", "gzip")];
    for (expected, status) in [
        (400, status("POST", messages, &[JSON], "{")),
        (400, status("POST", messages, &[JSON], "[]")),
        (403, status("GET", sse, &[("host", "evil.example")], "")),
        (
            403,
            status(
                "POST",
                messages,
                &[JSON, ("host", "evil.example")],
                INITIALIZE,
            ),
        ),
        (
            403,
            status("GET", sse, &[("origin", "http://evil.example")], ""),
        ),
        (404, status("POST", unknown, &[JSON], INITIALIZE)),
        (
            404,
            status(
                "POST",
                &format!("{unknown}?sessionId=x"),
                &[JSON],
                INITIALIZE,
            ),
        ),
        (405, status("POST", sse, &[JSON], INITIALIZE)),
        (405, status("GET", messages, &[], "")),
        (
            406,
            status("GET", sse, &[("accept", "application/json")], ""),
        ),
        (
            415,
            status(
                "POST",
                messages,
                &[("content-type", "text/plain")],
                INITIALIZE,
            ),
        ),
        (415, status("POST", messages, &gzip, INITIALIZE)),
    ] {
        assert_eq!(status, expected);
    }
    // The session is still there.
    assert_eq!(stream.post(INITIALIZE), 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_kinds_of_responses_have_headers_of_their_own() {
    let site =
        site("headers = { x-kind = \"stream\" }\nmessage_headers = { x-kind = \"message\" }\n")
            .await;
    let kind = |response: &Response<Body>| {
        let value = response.headers().get("x-kind");
        value.map(|value| value.to_str().expect("text").to_owned())
    };
    let response = send(
        "GET",
        site.url("old"),
        &[("origin", "http://localhost:1")],
        "",
    );
    assert_eq!(kind(&response).as_deref(), Some("stream"));
    assert_eq!(
        response.headers()["access-control-allow-origin"],
        "http://localhost:1"
    );
    let stream = Stream::of(response, &site);
    let accepted = send("POST", &stream.url, &[JSON], INITIALIZE);
    assert_eq!(kind(&accepted).as_deref(), Some("message"));
    let refused = send("POST", &stream.url, &[JSON], "{");
    assert_eq!(kind(&refused), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_replaces_the_servers_own() {
    let site = site("headers = { cache-control = \"private\" }\n").await;
    let response = send("GET", site.url("old"), &[], "");
    let values: Vec<_> = response.headers().get_all("cache-control").iter().collect();
    assert_eq!(values, ["private"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_can_depend_on_the_session() {
    let id = "${{ session.id }}";
    let headers = format!("headers = {{ x-stream = \"{id}\" }}\n");
    let site = site(&format!(
        "{headers}message_headers = {{ x-message = \"{id}\" }}\n"
    ))
    .await;
    let text = |response: &Response<Body>, name| {
        let value = response.headers().get(name).expect("a header");
        value.to_str().expect("text").to_owned()
    };
    let response = send("GET", site.url("old"), &[], "");
    let of_stream = text(&response, "x-stream");
    let stream = Stream::of(response, &site);
    assert!(
        stream.url.ends_with(&format!("={of_stream}")),
        "{}",
        stream.url
    );
    let accepted = send("POST", &stream.url, &[JSON], INITIALIZE);
    assert_eq!(text(&accepted, "x-message"), of_stream);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_stream() {
    let site = site("session = { most = 1 }\n").await;
    let stream = Stream::open(&site);
    let open = || send("GET", site.url("old"), &[], "");
    assert_eq!(open().status(), 503);
    let url = stream.url.clone();
    drop(stream);
    eventually("the session ends", async || {
        send("POST", &url, &[JSON], INITIALIZE).status() == 404
    })
    .await;
    assert_eq!(open().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_disconnects_stops_its_calls() {
    let forever = Wat::new().describe(&describe(&["forever"]));
    let wasm = forever
        .export("call", "", "(loop $again (br $again)) (i32.const 0)")
        .wasm();
    let one = "limits = { timeout = \"none\", instances = { max = 1 } }\n";
    let site = Site::start(&format!("{WEB}{OLD}{A}{one}"), &[("a.wasm", &wasm)]).await;
    for _ in 0..2 {
        let session = site.connect(Way::Sse, "old").await;
        let call = tokio::spawn(async move { session.call("forever", json!({})).await.map(drop) });
        let running = || site.service.metrics().contains("servlet_calls_running 1");
        eventually("the call runs", async || running()).await;
        call.abort();
        eventually("the call is stopped", async || !running()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_sessions_end_only_if_the_endpoint_says_so() {
    let (patient, limited) = (
        site("").await,
        site("session = { idle = \"300ms\" }\n").await,
    );
    let lasting = Stream::open(&patient);
    for _ in 0..2 {
        let mut stream = Stream::open(&limited);
        assert_eq!(stream.post(INITIALIZE), 202);
        assert!(stream.next().is_some());
        assert_eq!(stream.next(), None, "the stream ends");
    }
    // It has been idle for longer than both of them.
    assert_eq!(lasting.post(INITIALIZE), 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_hear_of_changed_lists() {
    let site = site("").await;
    let session = site.connect(Way::Sse, "old").await;
    assert_eq!(tools(&session).await, ["t"]);
    let mut events = session.events();
    site.write("a.wasm", servlet(&["u"], "a"));
    assert_eq!(next_event(&mut events).await, Event::ToolsChanged);
    assert_eq!(tools(&session).await, ["u"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_answers_what_has_begun() {
    let site = Site::start(&format!("{WEB}{OLD}{A}"), &[("a.wasm", &asking())]).await;
    let mut stream = Stream::open(&site);
    let initialize = INITIALIZE.replace(
        "\"capabilities\":{}",
        "\"capabilities\":{\"elicitation\":{}}",
    );
    assert_eq!(stream.post(&initialize), 202);
    assert!(stream.next().is_some());
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ask" } });
    assert_eq!(stream.post(&call.to_string()), 202);
    let question = stream.next().expect("a question");
    site.service.begin_stop();
    assert_eq!(
        stream.post(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
        503
    );
    let result = json!({ "action": "accept", "content": {} });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(stream.post(&answer.to_string()), 202);
    let answer = stream.next().expect("a message");
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(1), &json!("done"))
    );
    assert_eq!(stream.next(), None, "the stream ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_client_does_not_begin_ends() {
    let config = format!("{WEB}{OLD}session = {{ most = 1 }}\n{A}[http]\nhead_time = \"200ms\"\n");
    let start = async || Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let (site, other) = (start().await, start().await);
    let mut silent = Stream::open(&site);
    assert_eq!(silent.next(), None);
    let mut stream = Stream::open(&site);
    assert_eq!(stream.post(INITIALIZE), 202);
    stream.next().expect("an answer");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(stream.post(&initialized.to_string()), 202);
    for _ in 0..2 {
        assert_eq!(Stream::open(&other).next(), None, "its time is over");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    assert_eq!(stream.post(&ping.to_string()), 202);
    assert_eq!(stream.next().expect("an answer")["id"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_with_most_sessions_makes_room_for_another_one() {
    let config = format!(
        "{WEB}{OLD}session = {{ most = 3 }}\n{A}[http]\ntrusted_proxies = [\"127.0.0.1\"]\n"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let ask = |from| send("GET", site.url("old"), &[("x-forwarded-for", from)], "");
    let mut first = [(); 3].map(|()| Stream::of(ask("192.0.2.1"), &site));
    assert_eq!(ask("192.0.2.1").status(), 503);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for message in [
        INITIALIZE,
        initialized,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    ] {
        assert_eq!(first[0].post(message), 202);
    }
    // The oldest session without a request ends.
    let other = Stream::of(ask("192.0.2.2"), &site);
    assert_eq!(first[1].next(), None, "the stream ends");
    for living in [&first[0], &first[2], &other] {
        assert_eq!(living.post(initialized), 202);
    }
    let metrics = site.service.metrics();
    for line in [
        r#"servlet_refused_total{what="session"} 1"#,
        r#"servlet_refused_total{what="session_closed"} 1"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}
