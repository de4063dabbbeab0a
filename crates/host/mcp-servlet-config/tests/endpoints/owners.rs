//! What a caller opens belongs to that caller.

use std::io::Read as _;

use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use ureq::{Body, http::Response};

use crate::{
    http::{INITIALIZE, header, post, send, stateless},
    issuer::{ISSUER, Issuer, RESOURCE, now},
    log,
    site::{OLD, Site, WEB},
    sse::JSON,
    support::Wat,
    wasm::{describe, echo, echo_features, servlet},
};

const AUTH: &str = "auth = \"corp\"\n";
const KEY: &str = "a-secret-key-of-a-machine";

/// The section with an issuer and these keys.
fn corp(keys: &str) -> String {
    format!(
        "[auth.corp]\nresource = \"{RESOURCE}\"\n\
         jwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\" }}]\nkey = [{keys}]\n"
    )
}

fn key() -> String {
    let key = Sha256::of(KEY.as_bytes());
    format!("{{ name = \"ci\", sha256 = \"{key}\", header = \"x-api-key\" }}")
}

fn config() -> String {
    let corp = corp(&key());
    let one = "limits.isolation = \"shared\"\nlimits.instances.max = 1\n";
    let forward = "forward_headers = [\"x-request-id\"]\n";
    format!(
        "{WEB}{AUTH}{forward}{OLD}url = \"https://mcp.example/sse\"\n{AUTH}{corp}[servlet.a]\nsource = \"a.wasm\"\n{one}"
    )
}

async fn start(issuer: &Issuer, wasm: &[u8]) -> Site {
    start_with(issuer, wasm, &config()).await
}

async fn start_with(issuer: &Issuer, wasm: &[u8], config: &str) -> Site {
    log::start();
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let files = [("a.wasm", wasm), ("keys.json", keys.as_bytes())];
    Site::start(config, &files).await
}

/// A client with a token.
struct Client<'s> {
    url: &'s str,
    authorization: String,
}

impl<'s> Client<'s> {
    fn new(site: &'s Site, issuer: &Issuer, claims: &Value) -> Self {
        let token = issuer.token(claims);
        Self {
            url: site.url("web"),
            authorization: format!("Bearer {token}"),
        }
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Response<Body> {
        let own = [
            ("authorization", &*self.authorization),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        send(method, self.url, &[&own, headers].concat(), body)
    }

    /// The answer to a request since 2026-07-28.
    fn ask(&self, method: &str, params: Value) -> Value {
        let mut request = stateless(method, params);
        let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
        let capabilities = json!({ "elicitation": {}, "extensions": extensions });
        request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        let params = &request["params"];
        let name = ["name", "taskId", "uri"].map(|key| params[key].as_str());
        let name = name.into_iter().flatten().next();
        headers.extend(name.map(|name| ("mcp-name", name)));
        json_of(self.send("POST", &headers, &request.to_string()))
    }
}

fn json_of(mut response: Response<Body>) -> Value {
    let text = response.body_mut().read_to_string().expect("text");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A client of `ann`, one with another token of hers, and one of `bob`.
fn clients<'s>(site: &'s Site, issuer: &Issuer) -> [Client<'s>; 3] {
    let again = json!({ "scope": "mcp pay", "client_id": "cli" });
    [json!({}), again, json!({ "sub": "bob" })].map(|claims| Client::new(site, issuer, &claims))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_another_caller_does_not_exist() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    let [ann, again, bob] = clients(&site, &issuer);
    let opened = ann.send("POST", &[], INITIALIZE);
    let id = header(&opened, "mcp-session-id")
        .expect("a session")
        .to_owned();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let own = [("mcp-session-id", &*id)];
    let unknown = [("mcp-session-id", "3a4e2b0c-52b5-4b5e-9d1c-0d7e6f3c9a11")];
    for (method, body) in [("POST", list), ("GET", ""), ("DELETE", "")] {
        let mut answers = [own, unknown].map(|session| bob.send(method, &session, body));
        let [foreign, unknown] = answers.each_mut().map(|answer| {
            let text = answer.body_mut().read_to_string().expect("text");
            (answer.status(), text)
        });
        assert_eq!(foreign, unknown, "{method}");
        assert_eq!(foreign.0, 404, "{method}");
    }
    for client in [&ann, &again] {
        let listed = json_of(client.send("POST", &own, list));
        assert_eq!(listed["result"]["tools"][0]["name"], "t");
    }
    assert_eq!(again.send("DELETE", &own, "").status(), 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_over_sse_of_another_caller_does_not_exist() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    // The older transport has an own URL, so it needs tokens of its own.
    let claims = |sub: &str| json!({ "sub": sub, "aud": "https://mcp.example/sse" });
    let [ann, bob] = ["ann", "bob"].map(|sub| Client::new(&site, &issuer, &claims(sub)));
    let authorization = |client: &Client<'_>| client.authorization.clone();
    let headers = [("authorization", &*authorization(&ann))];
    let stream = send("GET", site.url("old"), &headers, "");
    assert_eq!(stream.status(), 200);
    let mut reader = stream.into_body().into_reader();
    let mut first = Vec::new();
    let mut byte = [0];
    while !first.ends_with(b"\n\n") {
        reader.read_exact(&mut byte).expect("a byte");
        first.push(byte[0]);
    }
    let first = String::from_utf8(first).expect("text");
    let path = first.trim().rsplit_once("data: ").expect("a URL").1;
    let url = format!("{}{path}", site.url("old").trim_end_matches("/sse"));
    for (client, status) in [(&bob, 404), (&ann, 202)] {
        let headers = [JSON, ("authorization", &*client.authorization)];
        assert_eq!(send("POST", &url, &headers, INITIALIZE).status(), status);
    }
    assert_eq!(send("POST", &url, &[JSON], INITIALIZE).status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_caller_does_not_exist() {
    let issuer = Issuer::new();
    let tool = json!({
        "name": "t",
        "inputSchema": { "type": "object" },
        "execution": { "taskSupport": "required" },
    });
    let wat = Wat::new().describe(&json!({ "tools": [tool] }).to_string());
    let site = start(&issuer, &wat.answer(r#"{"content":[]}"#).wasm()).await;
    let [ann, again, bob] = clients(&site, &issuer);
    let task = ann.ask("tools/call", json!({ "name": "t", "arguments": {} }));
    let id = task["result"]["taskId"]
        .as_str()
        .expect("a task")
        .to_owned();
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = |id: &str| json!({ "taskId": id, "inputResponses": {} });
        let foreign = bob.ask(method, params(&id));
        let unknown = bob
            .ask(method, params("x"))
            .to_string()
            .replace("`x`", &format!("`{id}`"));
        assert_eq!(foreign.to_string(), unknown, "{method}");
        assert_eq!(foreign["error"]["code"], -32602, "{method}");
    }
    eventually("the task ends", async || {
        let task = again.ask("tasks/get", json!({ "taskId": id }));
        task["result"]["status"] == "completed"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sealed_state_of_another_caller_is_refused() {
    let issuer = Issuer::new();
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "Go on?", "requestedSchema": schema });
    let question = json!({ "method": "elicitation/create", "params": params });
    let asks = json!({
        "resultType": "input_required",
        "inputRequests": { "q": question },
        "requestState": "s",
    });
    let texts = [asks.to_string(), r#"{"content":[]}"#.to_owned()];
    let wat = Wat::new().describe(&describe(&["t"]));
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let site = start(&issuer, &wat.answers(&texts).wasm()).await;
    let [ann, again, bob] = clients(&site, &issuer);
    let asked = ann.ask("tools/call", json!({ "name": "t", "arguments": {} }));
    let state = &asked["result"]["requestState"];
    assert!(state.is_string(), "{asked}");
    let answer = json!({
        "name": "t",
        "arguments": {},
        "requestState": state,
        "inputResponses": { "q": { "action": "accept", "content": {} } },
    });
    assert_eq!(
        bob.ask("tools/call", answer.clone())["error"]["code"],
        -32602
    );
    let done = again.ask("tools/call", answer);
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_caller_is_unknown() {
    let issuer = Issuer::new();
    let names: Vec<_> = (0..1001).map(|number| format!("t{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let site = start(&issuer, &servlet(&names, "a")).await;
    let [ann, again, bob] = clients(&site, &issuer);
    let first = ann.ask("tools/list", json!({}));
    assert_eq!(first["result"]["cacheScope"], "private");
    let next = json!({ "cursor": first["result"]["nextCursor"] });
    assert_eq!(bob.ask("tools/list", next.clone())["error"]["code"], -32602);
    let rest = again.ask("tools/list", next);
    assert_eq!(rest["result"]["tools"][0]["name"], "t1000", "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_share_cached_resources_only_if_the_file_says_so() {
    let issuer = Issuer::new();
    let forward = config().replace(AUTH, &format!("{AUTH}forward = [\"caller\"]\n"));
    for (shared, expected) in [("", "bob"), (", shared = true", "ann")] {
        let config = format!("{forward}resources = {{ cache = \"60s\"{shared} }}\n");
        let site = start_with(&issuer, &echo_features(), &config).await;
        let [ann, again, bob] = clients(&site, &issuer);
        let read = |client: &Client<'_>| {
            let answer = client.ask("resources/read", json!({ "uri": "x:" }));
            let left = answer["result"]["ttlMs"].as_u64();
            assert!(left.is_some_and(|left| left > 0), "it is cached: {answer}");
            answer["result"]["_meta"]["params"]["_meta"]["mcp-servlet/caller"].clone()
        };
        let first = read(&ann);
        assert_eq!(first["subject"], "ann");
        assert_eq!(read(&bob)["subject"], expected);
        // The servlet did not run again: this token has other scopes.
        assert_eq!(read(&again), first);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_token() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    // With the leeway of 30 s, it ends in 3 s.
    let ann = Client::new(&site, &issuer, &json!({ "exp": now() - 27 }));
    let opened = ann.send("POST", &[], INITIALIZE);
    let id = header(&opened, "mcp-session-id").expect("a session");
    let mut stream = ann.send("GET", &[("mcp-session-id", id)], "");
    assert_eq!(stream.status(), 200);
    stream
        .body_mut()
        .read_to_string()
        .expect("the end of the stream");
    let mut listen = stateless("subscriptions/listen", json!({ "notifications": {} }));
    listen["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let again = Client::new(&site, &issuer, &json!({ "exp": now() - 27 }));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    let mut stream = again.send("POST", &headers, &listen.to_string());
    assert_eq!(stream.status(), 200);
    stream
        .body_mut()
        .read_to_string()
        .expect("the end of the stream");
    assert_eq!(ann.send("POST", &[], INITIALIZE).status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_removed_counts_no_more() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    let own = [("x-api-key", KEY)];
    let opened = post(site.url("web"), &own, INITIALIZE);
    let id = header(&opened, "mcp-session-id")
        .expect("a session")
        .to_owned();
    let headers = [
        own[0],
        ("mcp-session-id", &id),
        ("accept", "text/event-stream"),
    ];
    let mut stream = send("GET", site.url("web"), &headers, "");
    assert_eq!(stream.status(), 200);
    site.write("servlet.toml", config().replace(&key(), ""));
    stream
        .body_mut()
        .read_to_string()
        .expect("the end of the stream");
    assert_eq!(post(site.url("web"), &own, INITIALIZE).status(), 401);
    let ann = Client::new(&site, &issuer, &json!({}));
    assert_eq!(ann.send("POST", &[], INITIALIZE).status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_key_stays_removed_when_the_endpoint_is_renamed() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    let status = |endpoint: &str, header| {
        let answer = post(site.url(endpoint), &[header], INITIALIZE);
        answer.status().as_u16()
    };
    let own = ("x-api-key", KEY);
    assert_eq!(status("web", own), 200);
    let removed = config().replace(&key(), "");
    site.write("servlet.toml", &removed);
    eventually("the key is removed", async || status("web", own) == 401).await;
    // The other endpoint comes later in the file, so it shows that the server has read it.
    let renamed = removed.replace("[endpoint.web]", "[endpoint.other]");
    let opened = renamed.replace(&format!("/sse\"\n{AUTH}"), "/sse\"\n");
    assert_ne!(opened, renamed);
    site.write("servlet.toml", opened);
    // This endpoint takes no messages there: 405 instead of 401.
    eventually("the other endpoint is open", async || {
        status("old", own) == 405
    })
    .await;
    assert_eq!(status("web", own), 401);
    let ann = Client::new(&site, &issuer, &json!({}));
    assert_eq!(ann.send("POST", &[], INITIALIZE).status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_an_open_endpoint_ends_when_it_asks_for_callers() {
    let issuer = Issuer::new();
    let closed = config();
    let open = closed.replace(AUTH, "").replace(&corp(&key()), "");
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let wasm = servlet(&["t"], "a");
    let files = [("a.wasm", &*wasm), ("keys.json", keys.as_bytes())];
    let site = Site::start(&open, &files).await;
    let opened = post(site.url("web"), &[], INITIALIZE);
    let id = header(&opened, "mcp-session-id").expect("a session");
    let events = ("accept", "text/event-stream");
    let streams = [
        send(
            "GET",
            site.url("web"),
            &[("mcp-session-id", id), events],
            "",
        ),
        send("GET", site.url("old"), &[events], ""),
    ];
    site.write("servlet.toml", closed);
    for mut stream in streams {
        assert_eq!(stream.status(), 200);
        stream
            .body_mut()
            .read_to_string()
            .expect("the end of the stream");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servlets_do_not_read_credentials() {
    let issuer = Issuer::new();
    let site = start(&issuer, &echo(&["t"])).await;
    let ann = Client::new(&site, &issuer, &json!({}));
    let call = stateless("tools/call", json!({ "name": "t", "arguments": {} })).to_string();
    let modern = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "t"),
        ("x-request-id", "r-1"),
    ];
    let by_token = json_of(ann.send("POST", &modern, &call));
    let by_key = json_of(post(
        site.url("web"),
        &[&modern[..], &[("x-api-key", KEY)]].concat(),
        &call,
    ));
    for answer in [by_token, by_key] {
        let params = &answer["result"]["structuredContent"]["params"];
        let headers = &params["_meta"]["mcp-servlet/headers"];
        assert_eq!(*headers, json!({ "x-request-id": "r-1" }), "{answer}");
        let text = answer.to_string();
        let token = ann.authorization.trim_start_matches("Bearer ");
        assert!(!text.contains(token) && !text.contains(KEY), "{text}");
    }
}
