//! The audit log.

use std::fs;

use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::{Answer, Http};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    site::{OLD, PIPE, Site, WAYS, WEB},
    support::Wat,
    wasm::{describe, echo, reading, servlet},
};

const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";
const AUDIT: &str = "[audit]\nto = \"audit.jsonl\"\n";

async fn start(config: &str, wasm: &[u8]) -> Site {
    Site::start(&format!("{config}{A}"), &[("a.wasm", wasm)]).await
}

fn call(client: &Http, tool: &str, arguments: Value) -> Answer {
    let params = json!({ "name": tool, "arguments": arguments });
    client.ask("tools/call", params)
}

/// All lines so far.
fn lines(site: &Site) -> Vec<Value> {
    let text = fs::read_to_string(site.path("audit.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| {
        assert!(line.len() < 8 << 10, "{line}");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    lines.collect()
}

/// Waits for a number of lines about an event.
async fn events(site: &Site, event: &str, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    eventually(&format!("{count} lines about {event}"), async || {
        found = lines(site);
        found.retain(|line| line["event"] == event);
        found.len() >= count
    })
    .await;
    assert_eq!(found.len(), count, "{event}");
    found
}

/// A line without what differs in each run.
fn stable(line: &Value) -> Value {
    let mut line = line.clone();
    let object = line.as_object_mut().expect("an object");
    for key in ["time", "process", "number", "ms", "session"] {
        object.shift_remove(key);
    }
    line
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_says_who_called_what_and_how_it_ended() {
    let issuer = Issuer::new();
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let config = format!(
        "{WEB}auth = \"corp\"\n{AUDIT}arguments = \"text\"\nmask = [\"pin\", \"to.iban\"]\nlists = true\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\njwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\" }}]\n{A}"
    );
    let files = [("a.wasm", &*echo(&["pay"])), ("keys.json", keys.as_bytes())];
    let site = Site::start(&config, &files).await;
    let token = format!("Bearer {}", issuer.token(&json!({ "client_id": "ide" })));
    let client = site.http("web").with("authorization", &token);
    let arguments = json!({ "pin": 1234, "to": { "iban": "DE1", "name": "A\nB" } });
    assert_eq!(call(&client, "pay", arguments).status(), 200);
    assert_eq!(client.ask("tools/list", json!({})).status(), 200);
    let [line] = <[Value; 1]>::try_from(events(&site, "call", 1).await).expect("one line");
    assert!(line["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{line}");
    let out = line["out"].clone();
    assert!(out.as_u64().is_some_and(|out| out > 50), "{line}");
    let caller = json!({
        "kind": "jwt", "auth": "corp", "subject": "ann", "issuer": ISSUER, "client": "ide",
    });
    let expected = json!({
        "v": 1, "event": "call", "endpoint": "web", "peer": "127.0.0.1", "caller": caller,
        "method": "tools/call", "name": "pay", "member": "a", "outcome": "ok", "in": 46, "out": out,
        "arguments": r#"{"pin":"***","to":{"iban":"***","name":"A\nB"}}"#,
    });
    assert_eq!(stable(&line), expected);
    let list = &events(&site, "list", 1).await[0];
    assert_eq!(
        (&list["method"], &list["caller"]),
        (&json!("tools/list"), &caller)
    );
    let time = line["time"].as_str().expect("a time");
    assert!(
        time.len() == 24 && time.ends_with('Z') && time.starts_with("20"),
        "{time}"
    );
    assert_eq!(lines(&site)[0]["event"], "start");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_have_no_gap() {
    let site = start(&format!("{WEB}{AUDIT}"), &servlet(&["t"], "a")).await;
    let clients = (0..8).map(|_| {
        let web = site.http("web");
        tokio::task::spawn_blocking(move || {
            for _ in 0..20 {
                assert_eq!(call(&web, "t", json!({})).status(), 200);
            }
        })
    });
    futures_util::future::join_all(clients).await;
    events(&site, "call", 160).await;
    let numbers = lines(&site).into_iter().map(|line| line["number"].as_u64());
    let expected = (1..=161).map(Some);
    assert!(numbers.eq(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_every_transport_have_lines() {
    let endpoints = format!("{WEB}{OLD}{PIPE}{AUDIT}");
    let site = start(&endpoints, &servlet(&["t"], "a")).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        session.call("t", json!({})).await.expect("a result");
    }
    let calls = events(&site, "call", WAYS.len()).await;
    let called: Vec<_> = calls.iter().map(|line| line["endpoint"].clone()).collect();
    assert_eq!(called, ["web", "web", "old", "pipe", "pipe"]);
    let mut sessions = Vec::new();
    eventually("the sessions have ended", async || {
        sessions = lines(&site);
        sessions.retain(|line| line["event"] == "session");
        sessions
            .iter()
            .filter(|line| line["outcome"] == "ended")
            .count()
            >= 3
    })
    .await;
    let digest = &calls[0]["session"];
    assert!(digest.as_str().is_some_and(|digest| digest.len() == 16));
    assert!(
        sessions
            .iter()
            .any(|line| line["session"] == *digest && line["outcome"] == "opened")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_through_a_search_have_lines_and_a_price() {
    let keys = "tools = { search = true }\nquota = [{ per = \"endpoint\", calls = \"3/d\" }]\n\
        rules = [{ deny = [\"hidden\"] }, { allow = [\"*\"] }]\n";
    let wasm = servlet(&["t", "hidden"], "a");
    let site = start(&format!("{WEB}{keys}{AUDIT}"), &wasm).await;
    let web = site.http("web");
    let through = |name: &str| call(&web, "call_tool", json!({ "name": name })).message();
    for name in ["hidden", "zzz"] {
        let answer = through(name);
        let text = &answer["result"]["content"][0]["text"];
        assert_eq!(*text, format!("there is no tool \"{name}\""));
    }
    let denied = &events(&site, "denied", 1).await[0];
    assert_eq!(
        (&denied["name"], &denied["via"], &denied["outcome"]),
        (
            &json!("hidden"),
            &json!("call_tool"),
            &json!("unknown_tool")
        )
    );
    assert_eq!(
        call(&web, "find_tools", json!({ "query": "t" })).status(),
        200
    );
    let calls = events(&site, "call", 2).await;
    let ended: Vec<_> = calls
        .iter()
        .map(|line| (&line["name"], &line["outcome"]))
        .collect();
    let expected = [
        (&json!("zzz"), &json!("unknown_tool")),
        (&json!("find_tools"), &json!("ok")),
    ];
    assert_eq!(ended, expected);
    assert_eq!(through("t")["error"]["code"], -32000);
    assert_eq!(
        call(&web, "find_tools", json!({ "query": "t" })).status(),
        429
    );
}

/// Rules, a quota, and a key of `ann`.
fn denying() -> String {
    let key = Sha256::of(b"the-key-of-ann-is-long");
    format!(
        "{WEB}auth = \"corp\"\nquota = [{{ per = \"caller\", tool = \"few\", calls = \"1/d\" }}]\n\
         [[endpoint.web.rules]]\nname = \"small\"\nallow = [\"pay\"]\narguments = {{ amount = {{ maximum = 100 }} }}\n\
         [[endpoint.web.rules]]\nallow = [\"few\"]\n\
         {AUDIT}[auth.corp]\nkey = [{{ name = \"ann\", sha256 = \"{key}\" }}]\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn denials_refusals_and_quotas_have_lines() {
    let config = denying();
    let site = start(&config, &servlet(&["pay", "few", "hidden"], "a")).await;
    let client = |token: &str| {
        let web = site.http("web");
        web.with("authorization", &format!("Bearer {token}"))
    };
    let ann = client("the-key-of-ann-is-long");
    let send = |tool: &str, arguments: Value| call(&ann, tool, arguments).status();
    assert_eq!(call(&client("wrong"), "pay", json!({})).status(), 401);
    let refused = &events(&site, "refused", 1).await[0];
    assert_eq!(
        stable(refused),
        json!({ "v": 1, "event": "refused", "endpoint": "web", "peer": "127.0.0.1", "reason": "key", "status": 401 })
    );
    assert_eq!(send("pay", json!({ "amount": 250 })), 200);
    send("hidden", json!({}));
    let denied = events(&site, "denied", 2).await;
    assert_eq!(
        (
            &denied[0]["rule"],
            &denied[0]["decision"],
            &denied[0]["reason"]
        ),
        (&json!("small"), &json!("deny"), &json!("rule"))
    );
    assert_eq!(
        (&denied[1]["name"], &denied[1]["rule"]),
        (&json!("hidden"), &Value::Null)
    );
    assert_eq!(send("pay", json!({ "amount": 5 })), 200);
    let allowed = &events(&site, "call", 1).await[0];
    assert_eq!(
        (&allowed["decision"], &allowed["rule"]),
        (&json!("allow"), &json!("small"))
    );
    assert_eq!([(); 2].map(|()| send("few", json!({}))), [200, 429]);
    let quota = &events(&site, "quota", 1).await[0];
    assert_eq!(
        (&quota["reason"], &quota["status"], &quota["name"]),
        (
            &json!("calls 1/d of few per caller"),
            &json!(429),
            &json!("few")
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_prompts_and_completions_have_lines() {
    let output = "(call $output {}) (i32.const 0)";
    let prompt = json!({ "name": "p", "arguments": [{ "name": "city" }] });
    let contents = json!({ "contents": [{ "uri": "x:1", "text": "a" }] });
    let wasm = Wat::new()
        .describe(&describe(&["t"]))
        .answer("{}")
        .export(
            "list_resources",
            r#"{"resources":[{"uri":"x:1","name":"one"}]}"#,
            output,
        )
        .export("read_resource", &contents.to_string(), output)
        .export(
            "list_prompts",
            &json!({ "prompts": [prompt] }).to_string(),
            output,
        )
        .export("get_prompt", r#"{"messages":[]}"#, output)
        .export("complete", r#"{"completion":{"values":[]}}"#, output)
        .wasm();
    let site = start(&format!("{WEB}{AUDIT}"), &wasm).await;
    let session = site.http("web").open();
    for (method, params) in [
        ("resources/read", json!({ "uri": "x:1" })),
        ("prompts/get", json!({ "name": "p" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "city", "value": "s3cret" } }),
        ),
    ] {
        assert_eq!(session.ask(method, params).status(), 200);
    }
    for (event, name) in [("read", "x:1"), ("prompt", "p"), ("complete", "p")] {
        let line = &events(&site, event, 1).await[0];
        assert_eq!(line["name"], name, "{line}");
        assert!(!line.to_string().contains("s3cret"), "{line}");
    }
    let read = &events(&site, "read", 1).await[0];
    assert_eq!(
        (&read["outcome"], &read["member"]),
        (&json!("ok"), &json!("a"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_member_that_is_read_decides_about_the_line_of_a_read() {
    let rules = "rules = [{ allow = { resources = [\"*\"] }, members = [\"a\"] }]\n";
    let other = "[servlet.b]\nsource = \"b.wasm\"\n";
    let config = format!("{WEB}{rules}{AUDIT}{A}{other}");
    let other = servlet(&["u"], "b");
    let site = Site::start(&config, &[("a.wasm", &reading()), ("b.wasm", &other)]).await;
    let web = site.http("web");
    let read = web.ask("resources/read", json!({ "uri": "x:1" }));
    assert_eq!(read.status(), 200);
    let line = &events(&site, "read", 1).await[0];
    assert_eq!(
        (&line["decision"], &line["outcome"]),
        (&json!("allow"), &json!("ok"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_the_scopes_of_its_tool_is_denied_by_name() {
    let key = Sha256::of(b"the-key-of-ann-is-long");
    let config = format!(
        "{WEB}auth = \"corp\"\n{AUDIT}[auth.corp]\nresource = \"{RESOURCE}\"\n\
         key = [{{ name = \"ann\", sha256 = \"{key}\" }}]\n{A}tool.pay = {{ scopes = [\"pay\"] }}\n"
    );
    let site = Site::start(&config, &[("a.wasm", &servlet(&["pay"], "a"))]).await;
    let web = site.http("web");
    let ann = web.with("authorization", "Bearer the-key-of-ann-is-long");
    assert_eq!(call(&ann, "pay", json!({})).status(), 403);
    let line = stable(&events(&site, "denied", 1).await[0]);
    let caller = json!({ "kind": "key", "auth": "corp", "subject": "ann" });
    assert_eq!(
        line,
        json!({
            "v": 1, "event": "denied", "endpoint": "web", "peer": "127.0.0.1", "caller": caller,
            "method": "tools/call", "name": "pay", "decision": "deny", "reason": "scope", "status": 403,
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_has_a_line() {
    let site = start(&format!("{WEB}{AUDIT}"), &servlet(&["t"], "a")).await;
    site.write("a.wasm", servlet(&["u"], "b"));
    let reload = &events(&site, "reload", 1).await[0];
    assert_eq!(reload["outcome"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_line_says_how_many_calls_have_none() {
    let site = start(&format!("{WEB}{AUDIT}"), &servlet(&["t"], "a")).await;
    for _ in 0..50 {
        call(&site.http("web"), "t", json!({}));
    }
    site.stop().await;
    let lines = lines(&site);
    let last = lines.last().expect("a line");
    assert_eq!(
        (&last["event"], &last["running"]),
        (&json!("stop"), &Value::Null)
    );
    assert_eq!(
        lines.iter().filter(|line| line["event"] == "call").count(),
        50
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn digests_of_arguments_can_be_compared_but_not_guessed() {
    let audit = "[audit]\nto = \"audit.jsonl\"\nsecret = \"0123456789abcdef\"\n";
    let site = start(&format!("{WEB}{audit}"), &servlet(&["t"], "a")).await;
    for pin in [1234, 1234, 1235] {
        call(&site.http("web"), "t", json!({ "pin": pin }));
    }
    let lines = events(&site, "call", 3).await;
    let [first, second, third] = [0, 1, 2].map(|at| lines[at]["arguments"].as_str().expect("text"));
    assert!(first.starts_with("hmac-sha256:"));
    assert_eq!((first == second, first == third), (true, false));
    let plain = Sha256::of(br#"{"pin":1234}"#).to_string();
    assert!(!first.contains(&plain));
}

/// The disk is full, really.
#[cfg(target_os = "linux")]
mod full {
    use super::*;

    /// The log is a link to a device that is always full.
    async fn start_full(full: &str) -> Site {
        let config = format!("{WEB}{AUDIT}full = \"{full}\"\n{A}");
        let files = [("a.wasm", &*servlet(&["t"], "a"))];
        Site::start_with(&config, &files, |folder| {
            std::os::unix::fs::symlink("/dev/full", folder.join("audit.jsonl")).expect("a link");
        })
        .await
    }

    fn empty(site: &Site) {
        fs::remove_file(site.path("audit.jsonl")).expect("a link");
        site.service.reopen_audit_log();
    }

    fn assert_is_answered(web: &Http) {
        let answer = call(web, "t", json!({}));
        assert!(answer.text().contains("\"a\""), "{answer:?}");
    }

    fn ready(site: &Site) -> u16 {
        site.http("web").at("/ready").get().status()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn calls_are_refused_until_lines_can_be_written() {
        let site = start_full("refuse").await;
        let web = site.http("web");
        eventually("the first line cannot be written", async || {
            ready(&site) == 503
        })
        .await;
        let answer = call(&web, "t", json!({})).message();
        let error = json!({
            "code": -32000,
            "message": "the audit log cannot take another line, so this server takes no calls; try again later",
            "data": { "retry": true },
        });
        assert_eq!(answer["error"], error);
        // Lists need no line.
        assert_eq!(web.ask("tools/list", json!({})).status(), 200);
        empty(&site);
        eventually("lines can be written", async || ready(&site) == 200).await;
        assert_is_answered(&web);
        events(&site, "call", 1).await;
        let lines = lines(&site);
        assert_eq!(
            (&lines[0]["event"], &lines[0]["number"]),
            (&json!("start"), &json!(1))
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lines_that_a_stop_cannot_write_are_counted() {
        let site = start_full("refuse").await;
        site.stop().await;
        // Those of the start and of the stop.
        let metrics = site.service.metrics();
        assert!(
            metrics.contains("servlet_audit_lost_total 2\n"),
            "{metrics}"
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lost_lines_are_counted() {
        let site = start_full("drop").await;
        let web = site.http("web");
        for _ in 0..5 {
            assert_is_answered(&web);
        }
        let lost = || {
            let metrics = site.service.metrics();
            let mut lines = metrics.lines();
            let count = lines.find_map(|line| line.strip_prefix("servlet_audit_lost_total "));
            count.map(str::to_owned)
        };
        // Those of the start and of five calls.
        eventually("all lines are lost", async || {
            lost().as_deref() == Some("6")
        })
        .await;
        assert_eq!(ready(&site), 200);
        empty(&site);
        call(&web, "t", json!({}));
        let line = &events(&site, "lost", 1).await[0];
        assert_eq!(line["lost"], 6);
        let call = &events(&site, "call", 1).await[0];
        assert_eq!(call["number"], 7);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_clients_choose_cannot_write_lines() {
    let site = start(&format!("{WEB}{AUDIT}"), &servlet(&["t"], "a")).await;
    let name = "t\"}\n{\"v\":1,\"event\":\"stop\"}\r\n";
    let session = site.http("web").open();
    session.ask("tools/call", json!({ "name": name }));
    let line = &events(&site, "call", 1).await[0];
    assert_eq!(
        (&line["name"], &line["outcome"]),
        (&json!(name), &json!("unknown_tool"))
    );
    assert!(lines(&site).iter().all(|line| line["event"] != "stop"));
}
