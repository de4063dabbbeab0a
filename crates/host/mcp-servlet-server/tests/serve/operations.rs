//! Endpoints for operators: health and metrics.

use mcp_servlet_call::Limit;
use mcp_servlet_host::{Entry, Host, Servlet};
use mcp_servlet_runtime::{LoadOptions, Source};
use mcp_servlet_server::{HttpOptions, Plan, ServeOptions};
use puppet::eventually_blocking;
use serde_json::json;
use wire::message::{numbered, request};

use crate::{
    client::Served,
    log::{LOG, start_log},
    support::{DESCRIPTION, Wat},
};

fn plain() -> Served {
    with(&LoadOptions::default())
}

fn with(options: &LoadOptions) -> Served {
    Served::start(Host::new(vec![servlet(options)]))
}

fn servlet(options: &LoadOptions) -> Servlet {
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer(r#"{"content":[]}"#)
        .load_with(options);
    servlet.expect("a servlet")
}

#[test]
fn answers_health_checks() {
    let served = plain();
    let health = served.http.at("/health").get();
    let expected = json!({"status": "ok", "servlets": 1, "tools": 1});
    assert_eq!((health.status(), health.message()), (200, expected));
}

/// A server whose servlets `a` and `b` cannot be loaded.
fn incomplete(http: HttpOptions) -> Served {
    let entry = |name: &str, wasm: Vec<u8>| {
        let name = name.to_owned();
        Entry::of(Source::Bytes { name, wasm }, LoadOptions::default())
    };
    let good = Wat::new().describe(DESCRIPTION).answer("{}").wasm();
    let entries = vec![entry("a", vec![]), entry("good", good), entry("b", vec![])];
    Served::start_plan(Plan::from_entries(entries), http)
}

#[test]
fn a_server_with_all_servlets_is_ready() {
    let ready = plain().http.at("/ready").get();
    let expected = json!({"status": "ready"});
    assert_eq!((ready.status(), ready.message()), (200, expected));
}

#[test]
fn ready_says_what_is_missing() {
    let served = incomplete(HttpOptions::default());
    let ready = |query: &str| {
        let answer = served.http.at(&format!("/ready{query}")).get();
        (answer.status(), answer.message())
    };
    let missing = json!({"servlets": ["a", "b"], "remotes": {}});
    let incomplete = json!({"status": "incomplete", "missing": missing});
    assert_eq!(ready(""), (503, incomplete));
    assert_eq!(ready("?exclude=a&exclude=b").0, 200);
    assert_eq!(ready("?exclude=a").0, 503);
    assert_eq!(served.http.at("/health").get().status(), 200);
}

#[test]
fn a_server_that_leaves_is_not_ready_and_still_answers() {
    let served = plain();
    served.service.leave();
    let ready = served.http.at("/ready").get();
    let expected = json!({"status": "stopping"});
    assert_eq!((ready.status(), ready.message()), (503, expected));
    assert_eq!(ready.header("retry-after"), Some("1"));
    assert_eq!(served.http.at("/health").get().status(), 200);
    assert_eq!(served.ask("tools/call", json!({"name": "t"})).status(), 200);
    assert_eq!(served.http.initialize().status(), 200);
}

#[test]
fn each_503_says_when_to_try_again() {
    let mut http = HttpOptions::default();
    http.sessions = 0;
    let served = incomplete(http);
    let refused = served.http.initialize();
    assert_eq!(
        (refused.status(), refused.header("retry-after")),
        (503, Some("30"))
    );
    let incomplete = served.http.at("/ready").get();
    assert_eq!(
        (incomplete.status(), incomplete.header("retry-after")),
        (503, Some("5"))
    );
}

#[test]
fn sessions_and_connections_are_counted() {
    let served = plain();
    let has = |line: &str| served.service.metrics().lines().any(|one| one == line);
    let sessions = [served.open(), served.open()];
    assert!(
        has(r#"servlet_sessions{endpoint=""} 2"#),
        "{}",
        served.service.metrics()
    );
    assert_eq!(sessions[0].delete().status(), 204);
    assert!(
        has(r#"servlet_sessions{endpoint=""} 1"#),
        "{}",
        served.service.metrics()
    );
    let idle = std::net::TcpStream::connect(served.http.address()).expect("a connection");
    eventually_blocking("a connection", || {
        has(r#"servlet_connections{state="open"} 1"#)
    });
    drop(idle);
    eventually_blocking("no connection", || {
        has(r#"servlet_connections{state="open"} 0"#)
    });
}

#[test]
fn full_connections_are_logged_and_counted() {
    start_log();
    let mut http = HttpOptions::default();
    http.connections = 1;
    let host = Host::new(vec![servlet(&LoadOptions::default())]);
    let served = Served::start_with(host, ServeOptions::default(), http);
    let connect = || std::net::TcpStream::connect(served.http.address()).expect("a connection");
    let has = |line: &str| served.service.metrics().lines().any(|one| one == line);
    let first = connect();
    eventually_blocking("a connection", || {
        has(r#"servlet_connections{state="open"} 1"#)
    });
    let _second = connect();
    eventually_blocking("one that waits", || {
        has(r#"servlet_connections{state="waiting"} 1"#)
    });
    assert!(has(r#"servlet_refused_total{what="connection_waits"} 1"#));
    let log = String::from_utf8(LOG.lock().expect("no panic").clone()).expect("text");
    assert!(
        log.contains("a client has to wait, because `connections` of `[http]` are open"),
        "{log}"
    );
    drop(first);
    eventually_blocking("its turn", || {
        has(r#"servlet_connections{state="waiting"} 0"#)
    });
}

#[test]
fn requests_for_resources_and_prompts_are_counted() {
    let served = plain();
    served.ask("resources/read", json!({"uri": "x:a"}));
    served.ask("prompts/get", json!({"name": "p"}));
    let metrics = served.service.metrics();
    for line in [
        r#"servlet_requests_total{method="resources/read",outcome="unknown_resource"} 1"#,
        r#"servlet_requests_total{method="prompts/get",outcome="unknown_prompt"} 1"#,
        r#"servlet_request_duration_seconds_count{method="prompts/get"} 1"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[test]
fn the_log_says_who_called() {
    start_log();
    let tool = json!({"tools": [{"name": "asked", "inputSchema": {"type": "object"}}]});
    let servlet = Wat::new()
        .describe(&tool.to_string())
        .answer(r#"{"content":[]}"#);
    let servlet = servlet
        .load_with(&LoadOptions::default())
        .expect("a servlet");
    let mut options = ServeOptions::default();
    options.endpoint = Some("web".to_owned());
    let served = Served::start_with(Host::new(vec![servlet]), options, HttpOptions::default());
    let session = served.open();
    let call = numbered(7, request("tools/call", json!({"name": "asked"})));
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_eq!(session.with("traceparent", trace).post(&call).status(), 200);
    let log = String::from_utf8(LOG.lock().expect("no panic").clone()).expect("text");
    let is_wanted = |line: &&str| line.contains(r#"tool="asked""#) && line.ends_with("ended");
    let line = log.lines().find(is_wanted).expect("a line for the call");
    for field in [
        r#"endpoint="web""#,
        r#"client="c""#,
        r#"request="7""#,
        &format!(r#"traceparent="{trace}""#),
    ] {
        assert!(line.contains(field), "{line}");
    }
    let digest = line
        .split_once(r#"session=""#)
        .and_then(|(_, rest)| rest.get(..17));
    let is_digest =
        |text: &str| text.ends_with('"') && text[..16].bytes().all(|one| one.is_ascii_hexdigit());
    assert!(digest.is_some_and(is_digest), "{line}");
    assert!(!log.contains(session.session()), "the id is a secret");
}

#[test]
fn calls_are_counted_by_tool_and_outcome() {
    let served = plain();
    for name in ["t", "t", "unknown"] {
        served.ask("tools/call", json!({"name": name}));
    }
    let metrics = served.service.metrics();
    let calls = r#"servlet_calls_total{servlet="test",tool="t",outcome="ok"} 2"#;
    assert!(metrics.contains(calls), "{metrics}");
    assert!(metrics.contains(r#"servlet_call_duration_seconds_count{servlet="test",tool="t"} 2"#));
    assert!(metrics.contains(r#"servlet_call_memory_bytes_count{servlet="test",tool="t"} 2"#));
    assert!(
        !metrics.contains("servlet_call_fuel_total{"),
        "it is not counted"
    );
    for bytes in ["input_bytes", "output_bytes"] {
        assert!(total(&metrics, bytes) > 0, "{metrics}");
    }
    assert!(!metrics.contains("unknown"), "{metrics}");
}

/// What the calls of the tool took together.
fn total(metrics: &str, what: &str) -> u64 {
    let before = format!(r#"servlet_call_{what}_total{{servlet="test",tool="t"}} "#);
    let (_, value) = metrics.split_once(&before).expect("a counter");
    let (value, _) = value.split_once('\n').expect("another line");
    value.parse().expect("a number")
}

#[test]
fn fuel_is_added_up_if_it_is_limited() {
    let mut options = LoadOptions::default();
    options.limits.fuel = Limit::At(1_000_000);
    let served = with(&options);
    let fuel_after_a_call = || {
        served.ask("tools/call", json!({"name": "t"}));
        total(&served.service.metrics(), "fuel")
    };
    let one = fuel_after_a_call();
    assert!((1..1_000_000).contains(&one), "{one}");
    assert_eq!(fuel_after_a_call(), 2 * one);
}

#[test]
fn the_log_says_what_a_call_took() {
    start_log();
    let tool = json!({"tools": [{"name": "measured", "inputSchema": {"type": "object"}}]});
    let servlet = Wat::new()
        .describe(&tool.to_string())
        .answer(r#"{"content":[]}"#);
    let mut options = LoadOptions::default();
    options.limits.fuel = Limit::At(1_000_000);
    let servlet = servlet.load_with(&options).expect("a servlet");
    let served = Served::start(Host::new(vec![servlet]));
    served.ask("tools/call", json!({"name": "measured"}));
    let log = String::from_utf8(LOG.lock().expect("no panic").clone()).expect("text");
    let is_wanted = |line: &&str| line.contains(r#"tool="measured""#) && line.ends_with("ended");
    let line = log.lines().find(is_wanted).expect("a line for the call");
    assert!(line.contains(r#"outcome="ok""#), "{line}");
    for measure in ["milliseconds", "memory", "fuel", "input", "output"] {
        let value = line.split_once(&format!(" {measure}="));
        let (_, value) = value.unwrap_or_else(|| panic!("no {measure}: {line}"));
        assert!(
            !value.starts_with('0') || measure == "milliseconds",
            "{line}"
        );
    }
}
