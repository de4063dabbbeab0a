//! What a caller opens belongs to that caller.

use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::{
    Answer, Http, Sse,
    message::{able, stateless},
};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE, now},
    log,
    site::{OLD, Site, WEB},
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
fn client(site: &Site, issuer: &Issuer, claims: &Value) -> Http {
    let authorization = format!("Bearer {}", issuer.token(claims));
    site.http("web").with("authorization", &authorization)
}

/// The answer to a request since 2026-07-28 of a client that can do what the tests need.
fn ask(client: &Http, method: &str, params: Value) -> Value {
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    let capabilities = json!({ "elicitation": {}, "extensions": extensions });
    let request = able(stateless(method, params), capabilities);
    client.post(&request).message()
}

/// A client of `ann`, one with another token of hers, and one of `bob`.
fn clients(site: &Site, issuer: &Issuer) -> [Http; 3] {
    let again = json!({ "scope": "mcp pay", "client_id": "cli" });
    [json!({}), again, json!({ "sub": "bob" })].map(|claims| client(site, issuer, &claims))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_another_caller_does_not_exist() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    let [ann, again, bob] = clients(&site, &issuer);
    let id = ann.initialize().session();
    for method in ["POST", "GET", "DELETE"] {
        let [foreign, unknown] = [&*id, "3a4e2b0c-52b5-4b5e-9d1c-0d7e6f3c9a11"].map(|id| {
            let session = bob.with("mcp-session-id", id);
            let answer = match method {
                "POST" => session.ask("tools/list", json!({})),
                "GET" => session.listen(),
                _ => session.delete(),
            };
            (answer.status(), answer.text().to_owned())
        });
        assert_eq!(foreign, unknown, "{method}");
        assert_eq!(foreign.0, 404, "{method}");
    }
    for client in [&ann, &again] {
        let session = client.with("mcp-session-id", &id);
        let listed = session.ask("tools/list", json!({})).message();
        assert_eq!(listed["result"]["tools"][0]["name"], "t");
    }
    assert_eq!(again.with("mcp-session-id", &id).delete().status(), 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_over_sse_of_another_caller_does_not_exist() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    // The older transport has an own URL, so it needs tokens of its own.
    let [ann, bob] = ["ann", "bob"].map(|sub| {
        let claims = json!({ "sub": sub, "aud": "https://mcp.example/sse" });
        let authorization = format!("Bearer {}", issuer.token(&claims));
        site.http("old").with("authorization", &authorization)
    });
    // The session lasts as long as its stream.
    let of_ann = Sse::open(&ann);
    let path = of_ann.http.path();
    assert_eq!(bob.at(path).initialize().status(), 404);
    assert_eq!(of_ann.http.initialize().status(), 202);
    assert_eq!(site.http("old").at(path).initialize().status(), 401);
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
    let task = ask(&ann, "tools/call", json!({ "name": "t", "arguments": {} }));
    let id = task["result"]["taskId"]
        .as_str()
        .expect("a task")
        .to_owned();
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = |id: &str| json!({ "taskId": id, "inputResponses": {} });
        let foreign = ask(&bob, method, params(&id));
        let unknown = ask(&bob, method, params("x"))
            .to_string()
            .replace("`x`", &format!("`{id}`"));
        assert_eq!(foreign.to_string(), unknown, "{method}");
        assert_eq!(foreign["error"]["code"], -32602, "{method}");
    }
    eventually("the task ends", async || {
        let task = ask(&again, "tasks/get", json!({ "taskId": id }));
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
    let asked = ask(&ann, "tools/call", json!({ "name": "t", "arguments": {} }));
    let state = &asked["result"]["requestState"];
    assert!(state.is_string(), "{asked}");
    let answer = json!({
        "name": "t",
        "arguments": {},
        "requestState": state,
        "inputResponses": { "q": { "action": "accept", "content": {} } },
    });
    let refused = ask(&bob, "tools/call", answer.clone());
    assert_eq!(refused["error"]["code"], -32602);
    let done = ask(&again, "tools/call", answer);
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_caller_is_unknown() {
    let issuer = Issuer::new();
    let names: Vec<_> = (0..1001).map(|number| format!("t{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let site = start(&issuer, &servlet(&names, "a")).await;
    let [ann, again, bob] = clients(&site, &issuer);
    let first = ask(&ann, "tools/list", json!({}));
    assert_eq!(first["result"]["cacheScope"], "private");
    let next = json!({ "cursor": first["result"]["nextCursor"] });
    let refused = ask(&bob, "tools/list", next.clone());
    assert_eq!(refused["error"]["code"], -32602);
    let rest = ask(&again, "tools/list", next);
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
        let read = |client: &Http| {
            let answer = ask(client, "resources/read", json!({ "uri": "x:" }));
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

/// Reads a stream to its end.
fn assert_ends(stream: &Answer) {
    assert_eq!(stream.status(), 200);
    stream.text();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_token() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    // With the leeway of 30 s, it ends in 3 s.
    let ann = client(&site, &issuer, &json!({ "exp": now() - 27 }));
    let session = ann.with("mcp-session-id", &ann.initialize().session());
    assert_ends(&session.listen());
    let again = client(&site, &issuer, &json!({ "exp": now() - 27 }));
    let filter = json!({ "notifications": {} });
    assert_ends(&again.ask("subscriptions/listen", filter));
    assert_eq!(ann.initialize().status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_removed_counts_no_more() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    let own = site.http("web").with("x-api-key", KEY);
    let session = own.with("mcp-session-id", &own.initialize().session());
    let stream = session.listen();
    site.write("servlet.toml", config().replace(&key(), ""));
    assert_ends(&stream);
    assert_eq!(own.initialize().status(), 401);
    let ann = client(&site, &issuer, &json!({}));
    assert_eq!(ann.initialize().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_key_stays_removed_when_the_endpoint_is_renamed() {
    let issuer = Issuer::new();
    let site = start(&issuer, &servlet(&["t"], "a")).await;
    let status = |endpoint: &str| {
        let own = site.http(endpoint).with("x-api-key", KEY);
        own.initialize().status()
    };
    assert_eq!(status("web"), 200);
    let removed = config().replace(&key(), "");
    site.write("servlet.toml", &removed);
    eventually("the key is removed", async || status("web") == 401).await;
    // The other endpoint comes later in the file, so it shows that the server has read it.
    let renamed = removed.replace("[endpoint.web]", "[endpoint.other]");
    let opened = renamed.replace(&format!("/sse\"\n{AUTH}"), "/sse\"\n");
    assert_ne!(opened, renamed);
    site.write("servlet.toml", opened);
    // This endpoint takes no messages there: 405 instead of 401.
    eventually("the other endpoint is open", async || status("old") == 405).await;
    assert_eq!(status("web"), 401);
    let ann = client(&site, &issuer, &json!({}));
    assert_eq!(ann.initialize().status(), 200);
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
    let web = site.http("web");
    let session = web.with("mcp-session-id", &web.initialize().session());
    let streams = [session.listen(), site.http("old").listen()];
    site.write("servlet.toml", closed);
    streams.iter().for_each(assert_ends);
}

#[tokio::test(flavor = "multi_thread")]
async fn servlets_do_not_read_credentials() {
    let issuer = Issuer::new();
    let site = start(&issuer, &echo(&["t"])).await;
    let token = issuer.token(&json!({}));
    let web = site.http("web").with("x-request-id", "r-1");
    for client in [
        web.with("authorization", &format!("Bearer {token}")),
        web.with("x-api-key", KEY),
    ] {
        let called = client.ask("tools/call", json!({ "name": "t", "arguments": {} }));
        let answer = called.message();
        let params = &answer["result"]["structuredContent"]["params"];
        let headers = &params["_meta"]["mcp-servlet/headers"];
        assert_eq!(*headers, json!({ "x-request-id": "r-1" }), "{answer}");
        let text = answer.to_string();
        assert!(!text.contains(&token) && !text.contains(KEY), "{text}");
    }
}
