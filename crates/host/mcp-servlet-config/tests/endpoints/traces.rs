//! Spans of requests, as a collector gets them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{AnyValue, any_value},
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use prost::Message as _;
use puppet::eventually;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use wire::message::{numbered, stateless};

use crate::{
    site::{PIPE, Site, WEB, Way},
    support::Wat,
    wasm::{describe, echo, echo_features, servlet},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// A collector that keeps the spans that it gets.
pub(crate) struct Collector {
    url: String,
    got: Arc<Mutex<Got>>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Got {
    spans: Vec<Span>,
    services: Vec<String>,
    authorizations: Vec<String>,
    /// Whether requests get no answer.
    is_silent: bool,
}

async fn take(State(got): State<Arc<Mutex<Got>>>, headers: HeaderMap, body: Bytes) {
    let is_silent = got.lock().expect("no panic").is_silent;
    if is_silent {
        std::future::pending::<()>().await;
    }
    assert_eq!(headers["content-type"], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).expect("spans");
    let mut got = got.lock().expect("no panic");
    let authorization = headers.get("authorization");
    let authorization = authorization.map(|value| value.to_str().expect("text").to_owned());
    got.authorizations.extend(authorization);
    for resource in request.resource_spans {
        let attributes = resource.resource.expect("a resource").attributes;
        let service = attributes.iter().find(|one| one.key == "service.name");
        got.services
            .extend(service.map(|one| text(one.value.as_ref())));
        let scopes = resource.scope_spans.into_iter();
        got.spans.extend(scopes.flat_map(|scope| scope.spans));
    }
}

impl Collector {
    pub(crate) async fn start() -> Self {
        Self::start_with(Got::default()).await
    }

    async fn start_with(got: Got) -> Self {
        let got = Arc::new(Mutex::new(got));
        let routes = Router::new()
            .route("/v1/traces", post(take))
            .with_state(Arc::clone(&got));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let serving = async move { axum::serve(listener, routes).await.expect("a server") };
        Self {
            url,
            got,
            serving: tokio::spawn(serving),
        }
    }

    pub(crate) fn section(&self) -> String {
        format!("[traces]\notlp = \"{}\"\n", self.url)
    }

    /// The spans with this name, in the order of their ends.
    fn spans(&self, name: &str) -> Vec<Span> {
        self.spans_that(|span| span.name == name)
    }

    pub(crate) fn spans_that(&self, is_wanted: impl Fn(&Span) -> bool) -> Vec<Span> {
        let got = self.got.lock().expect("no panic");
        let spans = got.spans.iter().filter(|span| is_wanted(span));
        spans.cloned().collect()
    }

    pub(crate) fn only(&self, name: &str) -> Span {
        let mut spans = self.spans(name);
        assert_eq!(spans.len(), 1, "{name}");
        spans.remove(0)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn attributes(span: &Span) -> BTreeMap<&str, String> {
    let pairs = span.attributes.iter();
    pairs
        .map(|one| (&*one.key, text(one.value.as_ref())))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

/// The parameters of a call that names its parent in `_meta`.
fn traced(tool: &str) -> Value {
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let meta = json!({ "traceparent": traceparent, "tracestate": "vendor=1" });
    json!({ "name": tool, "arguments": {}, "_meta": meta })
}

async fn start(config: &str, wasm: &[u8]) -> Site {
    Site::start(&format!("{config}{A}"), &[("a.wasm", wasm)]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_the_child_of_the_clients_span_and_the_parent_of_the_remotes() {
    let collector = Collector::start().await;
    let forward = "forward_headers = [\"traceparent\", \"tracestate\"]\n";
    let traces = collector.section();
    let behind = start(
        &format!("{WEB}{forward}{traces}service = \"behind\"\n"),
        &echo(&["t"]),
    )
    .await;
    let remote = format!(
        "[remote.far]\nurl = \"{}\"\nrequired = true\n",
        behind.url("web")
    );
    let front = Site::start(&format!("{WEB}{traces}service = \"front\"\n{remote}"), &[]).await;
    let called = front.http("web").ask("tools/call", traced("t"));
    let answer = called.message();
    assert!(answer["result"].is_object(), "{answer}");
    // Not at the end of the servers, which wait only for a while: the machine may be busy.
    eventually("three spans", async || {
        collector.spans("tools/call t").len() == 3
    })
    .await;
    let servers = collector.spans("tools/call t");
    let of_kind = |kind: SpanKind| {
        let kind = kind as i32;
        servers.iter().filter(move |span| span.kind == kind)
    };
    let client = of_kind(SpanKind::Client)
        .next()
        .expect("the request to the remote");
    let is_first = |span: &&Span| hex(&span.parent_span_id) == PARENT;
    let first = of_kind(SpanKind::Server)
        .find(is_first)
        .expect("the child of the client's span");
    let second = of_kind(SpanKind::Server)
        .find(|span| !is_first(span))
        .expect("the remote's span");
    assert!(servers.iter().all(|span| hex(&span.trace_id) == TRACE));
    assert_eq!(client.parent_span_id, first.span_id);
    assert_eq!(second.parent_span_id, client.span_id);

    // What the servlet behind the remote got: the same in `_meta` and in the header of the request.
    let traceparent = format!("00-{TRACE}-{}-01", hex(&second.span_id));
    let header = format!("00-{TRACE}-{}-01", hex(&client.span_id));
    let meta = &answer["result"]["structuredContent"]["params"]["_meta"];
    assert_eq!(meta["traceparent"], traceparent, "{answer}");
    assert_eq!(meta["tracestate"], "vendor=1");
    let headers = &meta["mcp-servlet/headers"];
    assert_eq!(
        *headers,
        json!({ "traceparent": header, "tracestate": "vendor=1" })
    );
    let services = collector.got.lock().expect("no panic").services.clone();
    assert!(services.contains(&"front".to_owned()) && services.contains(&"behind".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_have_the_names_of_the_conventions_and_no_arguments() {
    let collector = Collector::start().await;
    let headers = "headers = { authorization = \"Bearer s3cret\" }\n";
    let config = format!("{WEB}{PIPE}{}{headers}", collector.section());
    let site = start(&config, &servlet(&["t"], "a")).await;
    let params = json!({ "name": "t", "arguments": { "pin": "s3cret" } });
    let call = numbered("r-7", stateless("tools/call", params));
    site.http("web").post(&call);
    let session = site.connect(Way::PipeLegacy, "pipe").await;
    let error = session.call("none", json!({})).await;
    assert!(error.is_err());
    site.stop().await;
    let span = collector.only("tools/call t");
    let expected = BTreeMap::from([
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "t"),
        ("jsonrpc.request.id", "r-7"),
        ("mcp.method.name", "tools/call"),
        ("mcp.protocol.version", "2026-07-28"),
        ("network.transport", "tcp"),
    ]);
    let found = attributes(&span);
    let found: BTreeMap<_, _> = found
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(span.kind, SpanKind::Server as i32);
    assert!(span.parent_span_id.is_empty());
    assert!(span.end_time_unix_nano > span.start_time_unix_nano);
    let failed = collector.only("tools/call none");
    let status = failed.status.as_ref().expect("a status");
    assert_eq!(status.code, StatusCode::Error as i32);
    let found = attributes(&failed);
    assert_eq!(
        (&*found["error.type"], &*found["network.transport"]),
        ("unknown_tool", "pipe")
    );
    assert_eq!(found["mcp.session.id"].len(), 16);
    let got = collector.got.lock().expect("no panic");
    assert!(got.authorizations.iter().all(|one| one == "Bearer s3cret"));
    assert!(!format!("{:?}", got.spans).contains("s3cret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_tools_prompts_and_resources_have_spans() {
    let collector = Collector::start().await;
    let config = format!(
        "{WEB}{}{A}[servlet.b]\nsource = \"b.wasm\"\n",
        collector.section()
    );
    let failing = Wat::new().describe(&describe(&["t"]));
    let failing = failing.answer(r#"{"content":[],"isError":true}"#).wasm();
    let files = [("a.wasm", &*echo_features()), ("b.wasm", &*failing)];
    let site = Site::start(&config, &files).await;
    for (method, params) in [
        ("tools/call", json!({ "name": "t", "arguments": {} })),
        ("prompts/get", json!({ "name": "p" })),
        ("resources/read", json!({ "uri": "x:" })),
        ("prompts/get", json!({ "name": "none" })),
    ] {
        site.http("web").ask(method, params);
    }
    site.stop().await;
    let spans = collector.spans_that(|span| span.kind == SpanKind::Server as i32);
    for (method, attribute, value, error) in [
        ("tools/call", "gen_ai.tool.name", "t", Some("tool_error")),
        ("prompts/get", "gen_ai.prompt.name", "p", None),
        ("resources/read", "mcp.resource.uri", "x:", None),
        (
            "prompts/get",
            "gen_ai.prompt.name",
            "none",
            Some("unknown_prompt"),
        ),
    ] {
        let mut spans = spans.iter().map(|span| (span, attributes(span)));
        let found = spans.find(|(_, found)| {
            found["mcp.method.name"] == method
                && found.get(attribute).is_some_and(|one| one == value)
        });
        let (span, found) = found.unwrap_or_else(|| panic!("no span of {method} {value}"));
        let outcome = found.get("error.type").map(String::as_str);
        assert_eq!(outcome, error, "{method} {value}: {found:?}");
        let status = span.status.as_ref().map_or(0, |status| status.code);
        let is_error = status == StatusCode::Error as i32;
        assert_eq!(is_error, error.is_some(), "{method} {value}: {span:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_names_the_parent_too() {
    let collector = Collector::start().await;
    let site = start(
        &format!("{WEB}{}", collector.section()),
        &servlet(&["t"], "a"),
    )
    .await;
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    let client = site.http("web").with("traceparent", &traceparent);
    client.ask("tools/call", json!({ "name": "t" }));
    site.stop().await;
    let span = collector.only("tools/call t");
    assert_eq!(
        (hex(&span.trace_id), hex(&span.parent_span_id)),
        (TRACE.into(), PARENT.into())
    );
    assert_eq!(span.trace_state, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_not_trusted_is_only_linked() {
    let collector = Collector::start().await;
    let config = format!("{WEB}{}trust = \"new\"\n", collector.section());
    let site = start(&config, &servlet(&["t"], "a")).await;
    site.http("web").ask("tools/call", traced("t"));
    site.stop().await;
    let span = collector.only("tools/call t");
    assert_ne!(hex(&span.trace_id), TRACE);
    assert!(span.parent_span_id.is_empty());
    let link = span.links.first().expect("a link");
    assert_eq!(
        (hex(&link.trace_id), hex(&link.span_id)),
        (TRACE.into(), PARENT.into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn traces_that_begin_here_are_sampled_and_others_followed() {
    let collector = Collector::start().await;
    let config = format!("{WEB}{}sample = 0.0\n", collector.section());
    let site = start(&config, &servlet(&["t"], "a")).await;
    let web = site.http("web");
    web.ask("tools/call", json!({ "name": "t" }));
    web.ask("tools/call", traced("t"));
    site.stop().await;
    assert_eq!(hex(&collector.only("tools/call t").trace_id), TRACE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_does_not_answer_delays_no_call() {
    let silent = Got {
        is_silent: true,
        ..Got::default()
    };
    let collector = Collector::start_with(silent).await;
    let site = start(
        &format!("{WEB}{}", collector.section()),
        &servlet(&["t"], "a"),
    )
    .await;
    // More than the queue takes: each call must be answered, and soon.
    let calls = (0..8).map(|_| {
        let web = site.http("web");
        tokio::task::spawn_blocking(move || {
            for _ in 0..400 {
                let called = web.ask("tools/call", json!({ "name": "t" }));
                assert_eq!(called.status(), 200);
            }
        })
    });
    for ended in futures_util::future::join_all(calls).await {
        ended.expect("answers");
    }
    let stopped = tokio::time::timeout(Duration::from_secs(20), site.stop()).await;
    stopped.expect("the server waits for the collector for five seconds at most");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_away_changes_nothing() {
    let config = format!("{WEB}[traces]\notlp = \"http://127.0.0.1:1\"\n");
    let site = start(&config, &servlet(&["t"], "a")).await;
    let called = site.http("web").ask("tools/call", json!({ "name": "t" }));
    assert_eq!(called.status(), 200);
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_names_the_trace() {
    let collector = Collector::start().await;
    let audit = "[audit]\nto = \"audit.jsonl\"\n";
    let config = format!("{WEB}{audit}{}", collector.section());
    let site = start(&config, &servlet(&["t"], "a")).await;
    site.http("web").ask("tools/call", traced("t"));
    site.stop().await;
    let log = std::fs::read_to_string(site.path("audit.jsonl")).expect("lines");
    assert!(log.contains(&format!("\"trace\":\"{TRACE}\"")), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_is_a_part_of_a_call_and_errors_have_a_code() {
    let collector = Collector::start().await;
    let key = "a-key-of-a-machine";
    let digest = mcp_servlet_server::Sha256::of(key.as_bytes());
    let corp = format!("[auth.corp]\nkey = [{{ name = \"ci\", sha256 = \"{digest}\" }}]\n");
    let config = format!("{WEB}auth = \"corp\"\n{corp}{}", collector.section());
    let site = start(&config, &servlet(&["t"], "a")).await;
    let client = site.http("web");
    let client = client.with("authorization", &format!("Bearer {key}"));
    for tool in ["t", "unknown"] {
        client.ask("tools/call", json!({ "name": tool, "arguments": {} }));
    }
    site.stop().await;
    let call = collector.only("tools/call t");
    let gates = collector.spans("gate");
    assert_eq!(gates.len(), 2);
    let is_of_call = |gate: &&Span| gate.parent_span_id == call.span_id;
    let gate = gates.iter().find(is_of_call).expect("the gate of the call");
    assert_eq!(gate.start_time_unix_nano, call.start_time_unix_nano);
    assert!(gate.end_time_unix_nano <= call.end_time_unix_nano);
    assert!(gate.attributes.is_empty(), "{:?}", gate.attributes);
    assert_eq!(attributes(&call).get("rpc.response.status_code"), None);
    let unknown = collector.only("tools/call unknown");
    assert_eq!(attributes(&unknown)["rpc.response.status_code"], "-32602");
}
