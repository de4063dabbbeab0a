//! How much callers may use.

use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::json;
use wire::{
    Answer, Http,
    message::{cancelled, numbered, request},
};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    site::{OLD, PIPE, Site, WAYS, WEB},
    time::asking,
    tokens::refused,
    wasm::{reading, servlet},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

async fn start(endpoints: &str, wasm: &[u8]) -> Site {
    Site::start(&format!("{endpoints}{A}"), &[("a.wasm", wasm)]).await
}

/// Calls a tool, in a session or without one.
fn call(client: &Http, tool: &str) -> Answer {
    client.ask("tools/call", json!({ "name": tool, "arguments": {} }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_must_wait_has_status_429() {
    let quota = "quota = [{ per = \"endpoint\", calls = \"2/h\" }]\n";
    let site = start(&format!("{WEB}{quota}"), &servlet(&["t"], "a")).await;
    let web = site.http("web");
    for _ in 0..2 {
        let response = call(&web, "t");
        assert_eq!(response.status(), 200);
        assert_eq!(response.message()["result"]["content"][0]["text"], "a");
    }
    let response = call(&web, "t");
    assert_eq!(response.status(), 429);
    let seconds: u64 = response
        .header("retry-after")
        .and_then(|seconds| seconds.parse().ok())
        .expect("seconds");
    assert!((1795..=1800).contains(&seconds), "{seconds}");
    let expected = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32000,
            "message": format!("too many calls of this server: the limit is 2 in an hour; try again in {seconds} s"),
            "data": { "retry": true, "retry_after": seconds, "quota": "calls 2/h per endpoint" },
        },
    });
    assert_eq!(response.message(), expected);
    assert_eq!(refused(&site, "quota"), 1);
    // Lists do not count.
    assert_eq!(web.ask("tools/list", json!({})).status(), 200);
    let legacy = numbered("x", request("tools/call", json!({ "name": "t" })));
    let response = web.open().post(&legacy);
    assert_eq!(response.status(), 429);
    assert_eq!(response.message()["id"], "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_transport_has_the_same_error() {
    let quota = "quota = [{ per = \"caller\", tool = \"t*\", calls = \"1/d\" }]\n";
    let endpoints = format!("{WEB}{quota}{OLD}{quota}{PIPE}{quota}");
    for (way, endpoint) in WAYS {
        let site = start(&endpoints, &servlet(&["t", "other"], "a")).await;
        let session = site.connect(way, endpoint).await;
        let call = async |tool: &str| session.call(tool, json!({})).await;
        assert!(call("t").await.is_ok(), "{way:?}");
        let error = call("t").await.expect_err("used up");
        let text = error.to_string();
        let expected = "too many calls of `t*`: the limit is 1 in a day; try again in 86";
        assert!(text.contains(expected), "{way:?}: {text}");
        assert!(call("other").await.is_ok(), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_have_quotas_of_their_own() {
    let key = |name: &str| {
        let digest = Sha256::of(format!("the-key-of-{name}-is-long").as_bytes());
        format!("[[auth.corp.key]]\nname = \"{name}\"\nsha256 = \"{digest}\"\n")
    };
    let quota = "auth = \"corp\"\nquota = [{ per = \"caller\", calls = \"3/h\" }]\n";
    let config = format!("{WEB}{quota}[auth.corp]\n{}{}", key("ann"), key("bob"));
    let site = start(&config, &servlet(&["t"], "a")).await;
    let statuses = |name: &str| {
        let authorization = format!("Bearer the-key-of-{name}-is-long");
        let client = site.http("web").with("authorization", &authorization);
        let send = |_| call(&client, "t").status();
        (0..5).map(send).collect::<Vec<_>>()
    };
    assert_eq!(statuses("ann"), [200, 200, 200, 429, 429]);
    assert_eq!(statuses("bob"), [200, 200, 200, 429, 429]);
    // Who is refused at the gate takes nothing.
    assert_eq!(statuses("eve"), [401; 5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_token_has_no_new_quota_and_a_denied_call_counts() {
    let issuer = Issuer::new();
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let config = format!(
        "{WEB}auth = \"corp\"\nquota = [{{ per = \"caller\", calls = \"3/h\" }}]\nrules = [{{ allow = [\"t\"] }}]\n{A}\
         [auth.corp]\nresource = \"{RESOURCE}\"\njwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\" }}]\n"
    );
    let files = [
        ("a.wasm", &*servlet(&["t", "hidden"], "a")),
        ("keys.json", keys.as_bytes()),
    ];
    let site = Site::start(&config, &files).await;
    let status = |subject: &str, jti: &str, tool: &str| {
        let token = issuer.token(&json!({ "sub": subject, "jti": jti }));
        let authorization = format!("Bearer {token}");
        let client = site.http("web").with("authorization", &authorization);
        call(&client, tool).status()
    };
    let unknown = status("ann", "first", "hidden");
    assert_ne!(unknown, 429);
    assert_eq!(status("ann", "first", "t"), 200);
    assert_eq!(status("ann", "second", "t"), 200);
    assert_eq!(status("ann", "second", "t"), 429);
    assert_eq!(status("ann", "third", "t"), 429);
    assert_eq!(status("bob", "first", "t"), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_are_limited_until_they_end() {
    let quota = "quota = [{ per = \"endpoint\", running = 1 }]\n";
    let config =
        format!("{WEB}{quota}{A}limits.isolation = \"shared\"\nlimits.instances.max = 1\n");
    let site = Site::start(&config, &[("a.wasm", &asking())]).await;
    let elicitation = json!({ "elicitation": {} });
    let session = site.http("web").open_with(elicitation);
    let call = |id: u32| {
        let params = json!({ "name": "ask", "arguments": {} });
        session.post(&numbered(id, request("tools/call", params)))
    };
    // It waits for an answer of the client.
    let waiting = call(1);
    assert_eq!(waiting.status(), 200);
    let refused = call(2);
    assert_eq!(refused.status(), 429);
    let message = refused.message()["error"]["message"].clone();
    assert_eq!(
        message,
        "too many calls of this server run: the limit is 1 at once; try again in 1 s"
    );
    session.post(&cancelled(1));
    eventually("the call has ended", async || call(3).status() == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_are_charged_after_the_call() {
    let quota = "quota = [{ per = \"endpoint\", bytes = \"100/h\" }]\n";
    let site = start(&format!("{WEB}{quota}"), &servlet(&["t"], &"x".repeat(300))).await;
    let web = site.http("web");
    assert_eq!(call(&web, "t").status(), 200);
    let refused = eventually("the call is charged", async || {
        let response = call(&web, "t");
        (response.status() == 429).then_some(response)
    })
    .await;
    let refused = refused.message();
    let message = refused["error"]["message"].as_str().expect("text");
    assert!(
        message.starts_with("calls of this server have used up the bytes of an hour; try again in"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fuel_is_charged_after_the_call() {
    let quota = "quota = [{ per = \"endpoint\", fuel = \"1/h\" }]\n";
    let config = format!("{WEB}{quota}{A}limits = {{ fuel = 1000000 }}\n");
    let site = Site::start(&config, &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let web = site.http("web");
    assert_eq!(call(&web, "t").status(), 200);
    eventually("the call is charged", async || {
        call(&web, "t").status() == 429
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_take_fuel_too() {
    let quota = "quota = [{ per = \"endpoint\", fuel = \"1/h\" }]\n";
    let config = format!("{WEB}{quota}{A}limits = {{ fuel = 1000000 }}\n");
    let site = Site::start(&config, &[("a.wasm", &reading())]).await;
    let web = site.http("web");
    let read = || web.ask("resources/read", json!({ "uri": "x:1" })).status();
    assert_eq!(read(), 200);
    eventually("the read is charged", async || read() == 429).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_a_search_calls_counts_by_its_name() {
    let quota = "tools = { search = true }\nquota = [{ per = \"endpoint\", tool = \"t\", calls = \"1/h\" }]\n";
    let site = start(&format!("{WEB}{quota}"), &servlet(&["t"], "a")).await;
    let web = site.http("web");
    let call = || {
        let params = json!({ "name": "call_tool", "arguments": { "name": "t", "arguments": {} } });
        web.ask("tools/call", params)
    };
    assert_eq!(call().message()["result"]["content"][0]["text"], "a");
    let second = call();
    // Its status is decided before its arguments are read.
    assert_eq!(second.status(), 200);
    let error = &second.message()["error"];
    assert_eq!(
        (&error["code"], &error["data"]["quota"]),
        (&json!(-32000), &json!("calls 1/h of t per endpoint"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_changes_quotas_at_once() {
    let config =
        |calls: &str| format!("{WEB}quota = [{{ per = \"endpoint\", calls = \"{calls}\" }}]\n{A}");
    let site = Site::start(&config("1/d"), &[("a.wasm", &servlet(&["t"], "a"))]).await;
    let web = site.http("web");
    assert_eq!(call(&web, "t").status(), 200);
    assert_eq!(call(&web, "t").status(), 429);
    site.write("servlet.toml", config("1000/s"));
    eventually("the new quota applies", async || {
        call(&web, "t").status() == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_time_that_it_names_a_call_succeeds() {
    let quota = "quota = [{ per = \"endpoint\", calls = \"1/s\" }]\n";
    let site = start(&format!("{WEB}{quota}"), &servlet(&["t"], "a")).await;
    let web = site.http("web");
    assert_eq!(call(&web, "t").status(), 200);
    let second = call(&web, "t");
    // A busy machine may have needed the second.
    if second.status() == 429 {
        assert_eq!(second.header("retry-after"), Some("1"));
        eventually("room for a call", async || call(&web, "t").status() == 200).await;
    }
}
