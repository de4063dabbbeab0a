//! HTTP+SSE: sessions, refusals and limits.

use mcp_servlet_client::Event;
use puppet::eventually;
use serde_json::json;
use wire::{
    Http, Sse,
    message::{HANDSHAKE, able, initialize, initialized, numbered, request, response},
};

use crate::{
    site::{OLD, Site, WEB, Way, next_event, tools},
    support::Wat,
    time::asking,
    wasm::{describe, servlet},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

async fn site(more: &str) -> Site {
    let config = format!("{WEB}{OLD}{more}{A}");
    Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_accepted_and_answered_on_the_stream() {
    let site = site("").await;
    let mut stream = Sse::open(&site.http("old"));
    assert_eq!(stream.post(&initialize(HANDSHAKE)), 202);
    let opened = stream.next().expect("a message");
    assert_eq!(
        (&opened["id"], &opened["result"]["protocolVersion"]),
        (&json!(0), &json!("2025-11-25"))
    );
    assert_eq!(stream.post(&initialized()), 202);
    let call = numbered("a", request("tools/call", json!({ "name": "t" })));
    assert_eq!(stream.post(&call), 202);
    let answer = stream.next().expect("a message");
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!("a"), &json!("a"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_get_a_status() {
    let site = site("hosts = [\"localhost\", \"127.0.0.1\"]\n").await;
    let old = site.http("old");
    let stream = Sse::open(&old);
    let messages = &stream.http;
    let (path, _) = messages.url().split_once('?').expect("a query");
    let unknown = Http::new(format!("{path}?sessionId=x"));
    for (expected, answer) in [
        (400, messages.post_text("{")),
        (400, messages.post_text("[]")),
        (403, old.with("host", "evil.example").get()),
        (403, messages.with("host", "evil.example").initialize()),
        (403, old.with("origin", "http://evil.example").get()),
        (404, Http::new(path).initialize()),
        (404, unknown.initialize()),
        (405, old.initialize()),
        (405, messages.get()),
        (406, old.with("accept", "application/json").get()),
        (
            415,
            messages.with("content-type", "text/plain").initialize(),
        ),
        (415, messages.with("content-encoding", "gzip").initialize()),
    ] {
        assert_eq!(answer.status(), expected);
    }
    // The session is still there.
    assert_eq!(stream.post(&initialize(HANDSHAKE)), 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_kinds_of_responses_have_headers_of_their_own() {
    let site =
        site("headers = { x-kind = \"stream\" }\nmessage_headers = { x-kind = \"message\" }\n")
            .await;
    let old = site.http("old");
    let response = old.with("origin", "http://localhost:1").get();
    assert_eq!(response.header("x-kind"), Some("stream"));
    let allowed = response.header("access-control-allow-origin");
    assert_eq!(allowed, Some("http://localhost:1"));
    let messages = &Sse::of(response, &old).http;
    assert_eq!(messages.initialize().header("x-kind"), Some("message"));
    assert_eq!(messages.post_text("{").header("x-kind"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_replaces_the_servers_own() {
    let site = site("headers = { cache-control = \"private\" }\n").await;
    let response = site.http("old").get();
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
    let old = site.http("old");
    let response = old.get();
    let of_stream = response.header("x-stream").expect("an id").to_owned();
    let stream = Sse::of(response, &old);
    let url = stream.http.url();
    assert!(url.ends_with(&format!("={of_stream}")), "{url}");
    let accepted = stream.http.initialize();
    assert_eq!(accepted.header("x-message"), Some(&*of_stream));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_stream() {
    let site = site("session = { most = 1 }\n").await;
    let old = site.http("old");
    let stream = Sse::open(&old);
    assert_eq!(old.get().status(), 503);
    let messages = stream.http.clone();
    drop(stream);
    eventually("the session ends", async || {
        messages.initialize().status() == 404
    })
    .await;
    assert_eq!(old.get().status(), 200);
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
    let lasting = Sse::open(&patient.http("old"));
    for _ in 0..2 {
        let mut stream = Sse::open(&limited.http("old"));
        assert_eq!(stream.post(&initialize(HANDSHAKE)), 202);
        assert!(stream.next().is_some());
        assert_eq!(stream.next(), None, "the stream ends");
    }
    // It has been idle for longer than both of them.
    assert_eq!(lasting.post(&initialize(HANDSHAKE)), 202);
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
    let mut stream = Sse::open(&site.http("old"));
    let elicits = able(initialize(HANDSHAKE), json!({ "elicitation": {} }));
    assert_eq!(stream.post(&elicits), 202);
    assert!(stream.next().is_some());
    let call = request("tools/call", json!({ "name": "ask" }));
    assert_eq!(stream.post(&call), 202);
    let question = stream.next().expect("a question");
    site.service.begin_stop();
    let ping = numbered(2, request("ping", json!({})));
    assert_eq!(stream.post(&ping), 503);
    let answer = response(&question, json!({ "action": "accept", "content": {} }));
    assert_eq!(stream.post(&answer), 202);
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
    let mut silent = Sse::open(&site.http("old"));
    assert_eq!(silent.next(), None);
    let mut stream = Sse::open(&site.http("old"));
    assert_eq!(stream.post(&initialize(HANDSHAKE)), 202);
    stream.next().expect("an answer");
    assert_eq!(stream.post(&initialized()), 202);
    for _ in 0..2 {
        assert_eq!(
            Sse::open(&other.http("old")).next(),
            None,
            "its time is over"
        );
    }
    let ping = numbered(2, request("ping", json!({})));
    assert_eq!(stream.post(&ping), 202);
    assert_eq!(stream.next().expect("an answer")["id"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_with_most_sessions_makes_room_for_another_one() {
    let config = format!(
        "{WEB}{OLD}session = {{ most = 3 }}\n{A}[http]\ntrusted_proxies = [\"127.0.0.1\"]\n"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let from = |address| site.http("old").with("x-forwarded-for", address);
    let mut first = [(); 3].map(|()| Sse::open(&from("192.0.2.1")));
    assert_eq!(from("192.0.2.1").get().status(), 503);
    for message in [
        initialize(HANDSHAKE),
        initialized(),
        request("ping", json!({})),
    ] {
        assert_eq!(first[0].post(&message), 202);
    }
    // The oldest session without a request ends.
    let other = Sse::open(&from("192.0.2.2"));
    assert_eq!(first[1].next(), None, "the stream ends");
    for living in [&first[0], &first[2], &other] {
        assert_eq!(living.post(&initialized()), 202);
    }
    let metrics = site.service.metrics();
    for line in [
        r#"servlet_refused_total{what="session"} 1"#,
        r#"servlet_refused_total{what="session_closed"} 1"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}
