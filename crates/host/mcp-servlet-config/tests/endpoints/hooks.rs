//! Which clients may begin a session, and what servlets learn about them.

use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::{
    Answer, Sse,
    message::{HANDSHAKE, stateless},
};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    site::{OLD, Site, WEB},
    support::{
        Wat,
        caller::{CALL_TOOL, to_call},
    },
    tokens::refused,
    wasm::{Reply, echo, echo_after, replies, servlet},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";
const GATE: &str = "[servlet.gate]\nsource = \"gate.wasm\"\n";
const ASK: &str =
    "on_session = { tool = \"gate:admit\", headers = [\"x-region\"], timeout = \"20s\" }\n";

/// The request that a client of this name opens a session with.
fn initialize(client: &str) -> Value {
    let mut message = wire::message::initialize(HANDSHAKE);
    message["params"]["clientInfo"]["name"] = client.into();
    message
}

/// A list, requested without a session by a client of this name.
fn list(client: &str) -> Value {
    let mut request = stateless("tools/list", json!({}));
    request["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = client.into();
    request
}

/// The status of a response, and the message of its error.
fn error(answer: &Answer) -> (u16, String) {
    let json: Value = serde_json::from_str(answer.text()).unwrap_or_default();
    let message = json["error"]["message"].as_str().unwrap_or_default();
    (answer.status(), message.to_owned())
}

/// The number of open sessions of an endpoint.
fn sessions(site: &Site, endpoint: &str) -> u64 {
    let metrics = site.service.metrics();
    let line = format!("servlet_sessions{{endpoint=\"{endpoint}\"}} ");
    let count = metrics.lines().find_map(|one| one.strip_prefix(&*line));
    count.map_or(0, |count| count.parse().expect("a number"))
}

/// The schema of a tool with these arguments.
fn tool(arguments: &[&str]) -> Value {
    let properties: serde_json::Map<_, _> = arguments
        .iter()
        .map(|name| ((*name).to_owned(), json!({ "type": ["object", "string"] })))
        .collect();
    let schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    json!([{ "name": "admit", "inputSchema": schema }, { "name": "other", "inputSchema": { "type": "object" } }])
}

const ACCEPT: &str = r#"{"content":[],"structuredContent":{"accept":true}}"#;

/// A site whose endpoints ask this servlet.
async fn asking(gate: &[u8]) -> Site {
    asking_as(ASK, gate).await
}

async fn asking_as(ask: &str, gate: &[u8]) -> Site {
    let config = format!("{WEB}{ask}{OLD}{ask}{GATE}{A}");
    let files = [("gate.wasm", gate), ("a.wasm", &*servlet(&["t"], "a"))];
    Site::start(&config, &files).await
}

const REJECT: &str = "reject = [\n\
    { when = \"${{ client.name == 'old-bot' }}\", status = 410, message = \"no longer served\", headers = { retry-after = \"86400\" } },\n\
    { when = \"${{ headers['x-region'] == 'nowhere' }}\" },\n\
    { when = \"${{ 'authorization' in headers || 'cookie' in headers || 'x-api-key' in headers }}\", status = 418 },\n\
]\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_client_gets_this_status_text_and_headers() {
    let config = format!("{WEB}{REJECT}{OLD}{REJECT}{A}");
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let web = site.http("web");
    for answer in [
        web.with("x-region", "eu").post(&initialize("old-bot")),
        web.post(&list("old-bot")),
    ] {
        assert_eq!(answer.header("retry-after"), Some("86400"));
        assert_eq!(answer.header("mcp-session-id"), None);
        assert_eq!(error(&answer), (410, "no longer served".to_owned()));
    }
    assert_eq!(sessions(&site, "web"), 0);
    assert_eq!(refused(&site, "rejected"), 2);
    // A condition without a value rejects.
    let default = "the server refuses this session".to_owned();
    let without = web.post(&initialize("bot"));
    assert_eq!(error(&without), (403, default.clone()));
    let nowhere = web.with("x-region", "nowhere").post(&initialize("bot"));
    assert_eq!(error(&nowhere), (403, default));
    let stream = Sse::open(&site.http("old"));
    let messages = stream.http.with("x-region", "eu");
    let old = messages.post(&initialize("old-bot"));
    assert_eq!(error(&old), (410, "no longer served".to_owned()));
    assert_eq!(messages.post(&initialize("bot")).status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_do_not_see_credentials() {
    let key = "a-key-of-a-machine";
    let digest = Sha256::of(key.as_bytes());
    let config = format!(
        "{WEB}auth = \"corp\"\n{REJECT}[auth.corp]\n\
         key = [{{ name = \"ci\", sha256 = \"{digest}\", header = \"x-api-key\" }}]\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let client = site.http("web").with("x-api-key", key);
    let opened = client.with_all(&[("x-region", "eu"), ("cookie", "a=b")]);
    let opened = opened.post(&initialize("bot"));
    assert_eq!(opened.status(), 200);
    // The session was accepted, so its requests are not asked about again.
    let session = client.with("mcp-session-id", &opened.session());
    assert_eq!(session.ask("tools/list", json!({})).status(), 200);
}

/// Otherwise a client would not know that it has to open another session.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_has_ended_is_unknown_and_not_rejected() {
    let reject = "reject = [{ when = \"${{ client.name == '' }}\" }]\n";
    let site = Site::start(
        &format!("{WEB}{reject}{A}"),
        &[("a.wasm", &servlet(&["t"], "a"))],
    )
    .await;
    let ask = |version: &str| {
        let ended = ("mcp-session-id", "0d4b7c1e-9a52-4f0e-8f7d-3f2b1c5a6d7e");
        let client = site.http("web").with("mcp-protocol-version", version);
        client
            .with_all(&[ended])
            .ask("tools/list", json!({}))
            .status()
    };
    assert_eq!(ask("2025-11-25"), 404);
    // A request without a session cannot pass for one in a session.
    assert_eq!(ask("2026-07-28"), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_decides_about_each_session() {
    let refuse = json!({ "content": [], "structuredContent": {
        "accept": false, "status": 402, "message": "pay first", "headers": { "x-price": "7" },
    } });
    let gate = replies(
        &tool(&["client"]),
        &[
            (
                "\"admit\",\"arguments\":{\"client\":{\"name\":\"poor\"",
                Reply::Output(&refuse.to_string()),
            ),
            (
                "\"admit\",\"arguments\":{\"client\":{\"name\":\"",
                Reply::Output(ACCEPT),
            ),
        ],
    );
    let site = asking(&gate).await;
    let web = site.http("web");
    for answer in [web.post(&initialize("poor")), web.post(&list("poor"))] {
        assert_eq!(answer.header("x-price"), Some("7"));
        assert_eq!(answer.header("mcp-session-id"), None);
        assert_eq!(error(&answer), (402, "pay first".to_owned()));
    }
    assert_eq!(sessions(&site, "web"), 0);
    assert_eq!(refused(&site, "session_refused"), 2);
    let opened = web.post(&initialize("rich"));
    assert_eq!((opened.status(), sessions(&site, "web")), (200, 1));
    // Another client cannot take over the accepted session.
    let session = web.with("mcp-session-id", &opened.session());
    let (status, message) = error(&session.post(&initialize("poor")));
    assert_eq!(status, 400);
    assert!(message.starts_with("the session is open"), "{message}");
    assert_eq!(web.post(&list("rich")).status(), 200);
    let mut stream = Sse::open(&site.http("old"));
    assert_eq!(stream.post(&initialize("rich")), 202);
    assert_eq!(stream.next().expect("a message")["id"], 0);
    let stream = Sse::open(&site.http("old"));
    assert_eq!(stream.post(&initialize("poor")), 402);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_decides_however_sessions_are_kept() {
    let refuse = r#"{"content":[],"structuredContent":{"accept":false,"status":402}}"#;
    let gate = replies(&tool(&["client"]), &[(r#""admit""#, Reply::Output(refuse))]);
    let keys = format!("[server]\nstate_keys = [\"{}\"]\n", "k".repeat(43));
    for (store, more) in [("none", ""), ("sealed", &*keys)] {
        let config = format!("{WEB}{ASK}session.store = \"{store}\"\n{more}{GATE}{A}");
        let files = [("gate.wasm", &*gate), ("a.wasm", &*servlet(&["t"], "a"))];
        let site = Site::start(&config, &files).await;
        let web = site.http("web");
        let opened = web.post(&initialize("poor"));
        assert_eq!(opened.status(), 402, "{store}");
        assert_eq!(opened.header("mcp-session-id"), None, "{store}");
        // Nor does a session that does not exist help.
        let session = web.in_session("11111111-1111-4111-8111-111111111111");
        let status = session.ask("tools/list", json!({})).status();
        let expected = if store == "none" { 402 } else { 404 };
        assert_eq!(status, expected, "{store}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_answer_there_is_no_session() {
    crate::log::start();
    let malformed = r#"{"content":[],"structuredContent":{"accept":"yes"}}"#;
    let failed = r#"{"content":[],"structuredContent":{"accept":true},"isError":true}"#;
    for reply in [
        Reply::Hang,
        Reply::Trap,
        Reply::Error("no"),
        Reply::Output(malformed),
        Reply::Output(failed),
        Reply::Output("{}"),
    ] {
        let gate = replies(&tool(&[]), &[("\"admit\"", reply)]);
        let site = asking_as(&ASK.replace("20s", "300ms"), &gate).await;
        let web = site.http("web");
        for answer in [web.post(&initialize("c")), web.post(&list("c"))] {
            assert_eq!(answer.header("mcp-session-id"), None);
            assert_eq!(error(&answer).0, 503);
        }
        assert_eq!(sessions(&site, "web"), 0);
        assert_eq!(refused(&site, "no_session_answer"), 2);
    }
    crate::log::says("its caller is not accepted: tool `admit` took longer than 300ms").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_that_decides_calls_no_tools() {
    // The answer to a call that is not allowed begins with `{"error":{"kind":"not_allowed"`. The servlet accepts if it has this `n`.
    let body = format!(
        "(if (i32.ne
            (call $load (i64.add (call $call_tool (call $block {{}})) (i64.const 18)))
            (i32.const 0x6e))
            (then unreachable))
        (call $output (i32.const 0) (i32.const {})) (i32.const 0)",
        ACCEPT.len()
    );
    let wat = Wat::new().text(ACCEPT).import(CALL_TOOL);
    let wat = wat.describe(&json!({ "tools": tool(&[]) }).to_string());
    let gate = wat
        .export("call", &to_call("a:t").to_string(), &body)
        .wasm();
    let gate_section = format!("{GATE}allow = {{ tools = [\"a:*\"] }}\n");
    let config = format!("{WEB}{ASK}{gate_section}{A}");
    let files = [("gate.wasm", &*gate), ("a.wasm", &*servlet(&["t"], "a"))];
    let site = Site::start(&config, &files).await;
    let web = site.http("web");
    assert_eq!(web.post(&initialize("c")).status(), 200);
    assert_eq!(web.post(&list("c")).status(), 200);
    // Its other tool may call it.
    let called = web.ask("tools/call", json!({ "name": "other", "arguments": {} }));
    let (_, message) = error(&called);
    assert!(message.starts_with("servlet `gate` trapped"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_do_not_see_the_tool_that_decides() {
    let gate = replies(&tool(&[]), &[("\"admit\"", Reply::Output(ACCEPT))]);
    let site = asking(&gate).await;
    let web = site.http("web");
    let listed = web.post(&list("c")).message();
    let names: Vec<_> = listed["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["other", "t"]);
    let call = |name| {
        let params = json!({ "name": name, "arguments": {} });
        error(&web.ask("tools/call", params)).1
    };
    assert_eq!(call("admit").replace("admit", "nothing"), call("nothing"));
}

/// The first call accepts, the second one has no answer.
#[tokio::test(flavor = "multi_thread")]
async fn one_answer_is_enough_for_the_requests_of_a_minute() {
    let gate = echo_after(
        ACCEPT,
        &json!({ "tools": tool(&["client", "headers"]) }).to_string(),
    );
    let config =
        format!("{WEB}{ASK}{GATE}limits.isolation = \"shared\"\nlimits.instances.max = 1\n{A}");
    let files = [("gate.wasm", &*gate), ("a.wasm", &*servlet(&["t"], "a"))];
    let site = Site::start(&config, &files).await;
    let ask = |client: &str| site.http("web").post(&list(client)).status();
    assert_eq!([ask("a"), ask("a"), ask("a")], [200; 3]);
    // Nor do changes of other parts of the configuration ask again.
    site.write("servlet.toml", format!("{config}# changed\n"));
    eventually("a reload", async || {
        let metrics = site.service.metrics();
        metrics.contains("servlet_reloads_total{outcome=\"ok\"} 1\n")
    })
    .await;
    assert_eq!(ask("a"), 200);
    assert_eq!(ask("b"), 503);
    // Only answers are known, so the servlet decides again.
    assert_eq!([ask("b"), ask("b")], [200; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_quota_is_used_up_costs_no_decision() {
    let gate = echo_after(
        ACCEPT,
        &json!({ "tools": tool(&["client", "headers"]) }).to_string(),
    );
    let quota = "quota = [{ per = \"endpoint\", calls = \"1/h\" }]\n";
    let config = format!("{WEB}{ASK}{quota}{GATE}{A}");
    let files = [("gate.wasm", &*gate), ("a.wasm", &*servlet(&["t"], "a"))];
    let site = Site::start(&config, &files).await;
    let call = |client: &str| {
        let mut request = stateless("tools/call", json!({ "name": "t", "arguments": {} }));
        request["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = client.into();
        site.http("web").post(&request).status()
    };
    // A second decision would have no answer.
    assert_eq!([call("a"), call("b"), call("c")], [200, 429, 429]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_that_is_answered_outside_of_a_session_is_decided() {
    let reject = "reject = [{ when = \"${{ true }}\" }]\n";
    let config = format!("{WEB}{reject}{OLD}{reject}{A}");
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let list = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#)
    };
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    let version =
        |version: &str| format!(r#""io.modelcontextprotocol/protocolVersion":"{version}""#);
    // rmcp answers the first two outside of any session, whatever the headers say.
    let (old, new) = (version("2025-11-25"), version("2026-07-28"));
    let messages = [
        (
            list(&format!(r#"{{"_meta":{{{old},{capabilities}}}}}"#)),
            403,
        ),
        (
            list(&format!(r#"{{"_meta":{{{new},{capabilities}}}}}"#)),
            403,
        ),
        (
            list(&format!(r#"{{"_meta":{{{old},{new},{capabilities}}}}}"#)),
            400,
        ),
        // As PHP writes an empty object.
        (list("[]"), 403),
        (list(r#"{"_meta":[]}"#), 403),
    ];
    let web = site.http("web");
    for (message, status) in &messages {
        let found = web.post_text(message).status();
        assert_eq!(found, *status, "{message}");
    }
    let made_up = web.in_session("11111111-1111-4111-8111-111111111111");
    for (message, status) in &messages[..3] {
        let found = made_up.post_text(message).status();
        assert_eq!(found, *status, "{message}");
        let stream = Sse::open(&site.http("old"));
        assert_ne!(stream.http.post_text(message).status(), 202, "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_conditions_apply_at_once() {
    let config = |name: &str| {
        format!("{WEB}reject = [{{ when = \"${{{{ client.name == '{name}' }}}}\" }}]\n{A}")
    };
    let site = Site::start(&config("x"), &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let status = || site.http("web").post(&list("c")).status();
    assert_eq!(status(), 200);
    site.write("servlet.toml", config("c"));
    eventually("a rejected client", async || status() == 403).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_adds_no_header() {
    let issuer = Issuer::new();
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let config = format!(
        "{WEB}auth = \"corp\"\nheaders = {{ x-tenant = \"${{{{ caller.claims.tenant }}}}\" }}\n{A}\
         [auth.corp]\nresource = \"{RESOURCE}\"\nclaims = [\"tenant\"]\n\
         jwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\" }}]\n"
    );
    let files = [("a.wasm", &*echo(&["t"])), ("keys.json", keys.as_bytes())];
    let site = Site::start(&config, &files).await;
    for (tenant, status, sent) in [
        ("acme", 200, Some("acme")),
        ("acme\r\nx-admin: yes", 500, None),
        ("acme\nx-admin: yes", 500, None),
    ] {
        let authorization = format!("Bearer {}", issuer.token(&json!({ "tenant": tenant })));
        let client = site.http("web").with("authorization", &authorization);
        let opened = client.initialize();
        assert_eq!(opened.status(), status, "{tenant:?}");
        assert_eq!(opened.header("x-tenant"), sent, "{tenant:?}");
        assert_eq!(opened.header("x-admin"), None, "{tenant:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servlets_and_headers_have_the_caller_but_no_secret() {
    let key = "a-secret-key";
    let digest = Sha256::of(key.as_bytes());
    let config = format!(
        "{WEB}auth = \"corp\"\nforward = [\"caller\"]\nforward_headers = [\"x-region\"]\n\
         headers = {{ x-user = \"${{{{ caller.kind }}}} ${{{{ caller.subject }}}}\", x-issuer = \"${{{{ caller.?issuer }}}}\" }}\n\
         [auth.corp]\nkey = [{{ name = \"ci\", sha256 = \"{digest}\", scopes = [\"mcp\"] }}]\n{A}"
    );
    let site = Site::start(&config, &[("a.wasm", &echo(&["t"]))]).await;
    let authorization = format!("Bearer {key}");
    let headers = [
        ("authorization", &*authorization),
        ("cookie", "session=a-secret-cookie"),
        ("x-region", "eu"),
    ];
    let mut request = stateless("tools/call", json!({ "name": "t", "arguments": {} }));
    request["params"]["_meta"]["mcp-servlet/caller"] = json!({ "subject": "forged" });
    let answer = site.http("web").with_all(&headers).post(&request);
    assert_eq!(answer.header("x-user"), Some("key ci"));
    assert_eq!(answer.header("x-issuer"), None);
    let body = answer.text();
    for secret in ["a-secret", "forged", &digest.to_string()] {
        assert!(!body.contains(secret), "{body}");
    }
    let meta = &answer.message()["result"]["structuredContent"]["params"]["_meta"];
    let caller =
        json!({ "kind": "key", "subject": "ci", "scopes": ["mcp"], "roles": [], "claims": {} });
    assert_eq!(meta["mcp-servlet/caller"], caller);
    assert_eq!(meta["mcp-servlet/headers"], json!({ "x-region": "eu" }));
}
