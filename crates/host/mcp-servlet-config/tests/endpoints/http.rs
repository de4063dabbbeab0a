//! Paths, response forms, headers and limits of endpoints over streamable HTTP.

use std::time::Duration;

use mcp_servlet_client::Session;
use puppet::eventually;
use serde_json::{Value, json};
use ureq::{Body, http::Response};

use crate::{
    site::{Site, Way, tools},
    support::Wat,
    wasm::servlet,
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

fn agent() -> ureq::Agent {
    let agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_mins(1)));
    agent.allow_non_standard_methods(true).build().into()
}

pub(crate) fn send(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response<Body> {
    let request = ureq::http::Request::builder().method(method).uri(url);
    let request = headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    });
    let request = request.body(body.to_owned()).expect("a request");
    agent().run(request).expect("a response")
}

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

const POST: [(&str, &str); 2] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
];

pub(crate) fn post(url: &str, headers: &[(&str, &str)], body: &str) -> Response<Body> {
    send("POST", url, &[&POST, headers].concat(), body)
}

pub(crate) fn header<'r>(response: &'r Response<Body>, name: &str) -> Option<&'r str> {
    Some(response.headers().get(name)?.to_str().expect("text"))
}

const TWO: &str = "[listener.l]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.one]\nkind = \"http\"\nlistener = \"l\"\npath = \"/one/mcp\"\nbundles = [\"a\"]\n\
    [endpoint.two]\nkind = \"http\"\nlistener = \"l\"\npath = \"/two\"\nbundles = [\"b\"]\n\
    [servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_share_a_listener() {
    let files = [
        ("a.wasm", servlet(&["x"], "a")),
        ("b.wasm", servlet(&["y"], "b")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(TWO, &files).await;
    for way in [Way::HttpLegacy, Way::HttpModern] {
        for (endpoint, tool) in [("one", "x"), ("two", "y")] {
            let session = site.connect(way, endpoint).await;
            assert_eq!(tools(&session).await, [tool], "{way:?}");
        }
    }
    let root = site.url("two").trim_end_matches("/two").to_owned();
    let mut other = send("GET", &format!("{root}/mcp"), &[], "");
    assert_eq!(other.status(), 404);
    let text = other.body_mut().read_to_string().expect("text");
    assert_eq!(
        text,
        "this is an MCP server, and its endpoints are /one/mcp, /two\n"
    );
    let mut health = send("GET", &format!("{root}/health"), &[], "");
    let health: Value =
        serde_json::from_str(&health.body_mut().read_to_string().expect("text")).expect("JSON");
    assert_eq!(health, json!({ "status": "ok", "servlets": 2, "tools": 2 }));
    // A session belongs to one endpoint.
    let opened = post(site.url("one"), &[], INITIALIZE);
    let session = header(&opened, "mcp-session-id").expect("a session");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let elsewhere = post(site.url("two"), &[("mcp-session-id", session)], list);
    assert_eq!(elsewhere.status(), 404);
}

/// A servlet that sends progress before its answer, if the client asked for it.
pub(crate) fn progressing() -> Vec<u8> {
    let params = json!({ "progressToken": "p", "progress": 1 });
    let import = r#"(import "extism:host/user" "notify_progress" (func $progress (param i64)))"#;
    let answer = r#"{"content":[{"type":"text","text":"a"}]}"#;
    let text = json!(params).to_string();
    let body = format!(
        "(call $progress (call $block (i32.const 0) (i32.const {}))) (call $output {{}}) (i32.const 0)",
        text.len()
    );
    let wat = Wat::new().import(import).text(&text);
    wat.describe(&crate::wasm::describe(&["t"]))
        .export("call", answer, &body)
        .wasm()
}

/// A request since 2026-07-28.
pub(crate) fn stateless(method: &str, mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "c", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Sends such a request, which has no session.
pub(crate) fn post_stateless(url: &str, request: &Value) -> Response<Body> {
    post_stateless_with(url, &[], request)
}

/// The same, with more headers.
pub(crate) fn post_stateless_with(
    url: &str,
    more: &[(&str, &str)],
    request: &Value,
) -> Response<Body> {
    let mut headers = vec![("mcp-protocol-version", "2026-07-28")];
    headers.extend(more);
    headers.extend(
        request["method"]
            .as_str()
            .map(|method| ("mcp-method", method)),
    );
    let params = &request["params"];
    let name = params["name"].as_str().or_else(|| params["uri"].as_str());
    headers.extend(name.map(|name| ("mcp-name", name)));
    post(url, &headers, &request.to_string())
}

/// A request for the tools, without a session.
fn list_without_session(url: &str) -> Response<Body> {
    post_stateless(url, &stateless("tools/list", json!({})))
}

async fn forms(response: &str) -> Vec<Option<String>> {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\n{response}{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let url = site.url("web");
    let opened = post(url, &[], INITIALIZE);
    let session = header(&opened, "mcp-session-id")
        .expect("a session")
        .to_owned();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let legacy = post(url, &[("mcp-session-id", &session)], list);
    let modern = list_without_session(url);
    let kind = |response: &Response<Body>| header(response, "content-type").map(str::to_owned);
    vec![kind(&legacy), kind(&modern)]
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_json_or_events() {
    let json = Some("application/json".to_owned());
    let events = Some("text/event-stream".to_owned());
    for response in ["", "response = \"json\"\n"] {
        assert_eq!(
            forms(response).await,
            [json.clone(), json.clone()],
            "{response}"
        );
    }
    assert_eq!(
        forms("response = \"sse\"\n").await,
        [events.clone(), events]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_understand_both_forms() {
    for response in ["json", "sse"] {
        let config = format!(
            "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nresponse = \"{response}\"\n{A}"
        );
        let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
        for way in [Way::HttpLegacy, Way::HttpModern] {
            let session: Session = site.connect(way, "web").await;
            let called = session.call("t", json!({})).await;
            assert_eq!(called.expect("a result").text(), "a", "{response} {way:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn successful_responses_have_the_endpoints_headers() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\nbody = \"10KiB\"\n\
         [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nheaders = {{ x-served-by = \"acme\", x-none = \"${{NO_SUCH_VARIABLE_HERE:-no}}\" }}\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let url = site.url("web");
    let opened = post(url, &[("origin", "http://localhost:3000")], INITIALIZE);
    assert_eq!(opened.status(), 200);
    assert_eq!(header(&opened, "x-served-by"), Some("acme"));
    assert_eq!(header(&opened, "x-none"), Some("no"));
    let exposed = header(&opened, "access-control-expose-headers");
    assert_eq!(exposed, Some("Mcp-Session-Id, x-none, x-served-by"));
    let session = header(&opened, "mcp-session-id")
        .expect("a session")
        .to_owned();
    let session = [("mcp-session-id", &*session)];
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let ready = post(url, &session, ready);
    assert_eq!(
        (ready.status().as_u16(), header(&ready, "x-served-by")),
        (202, Some("acme"))
    );
    let long = "x".repeat(20 << 10);
    for (status, response) in [
        (400, post(url, &[], "{")),
        (403, post(url, &[("host", "evil.example")], INITIALIZE)),
        (404, post(url, &[("mcp-session-id", "unknown")], INITIALIZE)),
        (413, post(url, &[], &long)),
    ] {
        assert_eq!(response.status(), status);
        assert_eq!(header(&response, "x-served-by"), None, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_can_depend_on_the_request() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n\
         [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\n\
         headers = {{ x-session = \"${{{{ session.id }}}}\", x-text = \"id-${{{{ session.id }}}}\", \
         x-request = \"${{{{ request.method }}}} ${{{{ request.id }}}}\" }}\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let url = site.url("web");
    let opened = post(url, &[], INITIALIZE);
    let session = header(&opened, "mcp-session-id").expect("a session");
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let ready = post(url, &[("mcp-session-id", session)], ready);
    for response in [&opened, &ready] {
        assert_eq!(header(response, "x-session"), Some(session));
        assert_eq!(header(response, "x-text"), Some(&*format!("id-{session}")));
    }
    let request = |response| header(response, "x-request").map(str::to_owned);
    assert_eq!(request(&opened).as_deref(), Some("initialize 0"));
    let method = Some("notifications/initialized");
    assert_eq!(request(&ready).as_deref(), method);
    let listed = list_without_session(url);
    assert_eq!(listed.status(), 200);
    assert_eq!(request(&listed).as_deref(), Some("tools/list 1"));
    assert_eq!(header(&listed, "x-session"), None);
    assert_eq!(header(&listed, "x-text"), Some("id-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_without_a_valid_value_is_an_internal_error() {
    for (value, wrong) in [
        ("${{ 'a\\\\nb' + session.id }}", true),
        ("${{ int(session.id) }}", true),
        ("${{ session.?id.orValue('-') }}", false),
    ] {
        let config = format!(
            "[listener.l]\naddress = \"127.0.0.1:0\"\n\
             [endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nheaders = {{ x-a = \"{value}\" }}\nsession.most = 1\n{A}"
        );
        let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
        let mut opened = post(site.url("web"), &[], INITIALIZE);
        let status = if wrong { 500 } else { 200 };
        assert_eq!(opened.status(), status, "{value}");
        if wrong {
            let text = opened.body_mut().read_to_string().expect("text");
            assert_eq!(
                text,
                "the header `x-a` of the endpoint has no valid value\n"
            );
            assert_eq!(header(&opened, "mcp-session-id"), None);
            // The server has not kept the session: there is room for one.
            let again = post(site.url("web"), &[], INITIALIZE);
            assert_eq!(again.status(), 500, "{value}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_host_is_told_which_key_allows_it() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nhosts = [\"mcp.example\"]\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let url = site.url("web");
    assert_eq!(
        post(url, &[("host", "mcp.example")], INITIALIZE).status(),
        200
    );
    let mut refused = post(url, &[("host", "evil.example:80")], INITIALIZE);
    let text = refused.body_mut().read_to_string().expect("text");
    assert!(
        text.contains("help: set `hosts = [\"evil.example\"]` in `[endpoint.web]`"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn each_endpoint_has_its_own_limits_of_sessions() {
    let config = format!("{TWO}\n[http]\nsession_idle = \"none\"\n");
    let config = config.replace(
        "bundles = [\"a\"]\n",
        "bundles = [\"a\"]\nsession = { most = 1, idle = \"300ms\" }\n",
    );
    let files = [
        ("a.wasm", servlet(&["x"], "a")),
        ("b.wasm", servlet(&["y"], "b")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    let site = Site::start(&config, &files).await;
    let open = |endpoint| post(site.url(endpoint), &[], INITIALIZE).status().as_u16();
    assert_eq!((open("one"), open("one")), (200, 503));
    assert_eq!((open("two"), open("two")), (200, 200));
    // The idle session makes room.
    eventually("an idle session ends", async || open("one") == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_before_the_answer_makes_a_stream() {
    let config = format!(
        "[listener.l]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"l\"\nresponse = \"json\"\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &progressing())]).await;
    let url = site.url("web");
    let opened = post(url, &[], INITIALIZE);
    let session = header(&opened, "mcp-session-id")
        .expect("a session")
        .to_owned();
    let params = |meta: Value| json!({ "name": "t", "_meta": meta });
    let legacy = |meta| {
        let call =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params(meta) });
        post(url, &[("mcp-session-id", &session)], &call.to_string())
    };
    let modern = |meta| post_stateless(url, &stateless("tools/call", params(meta)));
    for (meta, expected) in [
        (json!({}), "application/json"),
        (json!({ "progressToken": "p" }), "text/event-stream"),
    ] {
        for response in [legacy(meta.clone()), modern(meta.clone())] {
            assert_eq!(response.status(), 200, "{meta}");
            assert_eq!(header(&response, "content-type"), Some(expected), "{meta}");
        }
    }
}
