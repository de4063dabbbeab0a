//! Servlets that call tools of remotes.

use mcp_servlet_client::{CallOptions, CallResult, Event, Options};
use puppet::{PATIENCE, Puppet, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    client::Oslo,
    servlets::caller::{caller, to_call, to_read},
    site::{OLD, PIPE, Site, WAYS, WEB},
    steps::{asking, data, never, plain},
    virtual_tools::remote,
};

/// A site whose endpoints have one tool, `t`, of a servlet that makes these requests.
async fn site(remotes: &[(&str, &Puppet)], limits: &str, requests: &[Value]) -> Site {
    let only = "bundles = [\"planner\"]\n";
    let grants = remotes.iter().map(|(name, _)| format!("\"{name}:*\""));
    let grants = grants.collect::<Vec<_>>().join(", ");
    let mut config = format!(
        "{WEB}{only}{OLD}{only}{PIPE}{only}[servlet.planner]\nsource = \"planner.wasm\"\n{limits}\
         allow = {{ tools = [{grants}], resources = [{grants}] }}\n"
    );
    for (name, puppet) in remotes {
        config += &remote(name, puppet, "").await;
    }
    let planner = caller(requests, "").wasm();
    Site::start(&config, &[("planner.wasm", &planner)]).await
}

fn answers(result: &CallResult) -> Vec<Value> {
    let structured = result.structured.as_ref().expect("structured content");
    let structured: Value = serde_json::from_str(structured.get()).expect("JSON");
    structured["answers"].as_array().expect("a list")[1..].to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_calls_tools_and_reads_resources_of_remotes() {
    let good = plain(data(json!({ "x": "$params/arguments/x" })));
    let mut request = to_call("good:t");
    request["params"]["arguments"] = json!({ "x": "y" });
    let requests = [
        request,
        to_read("good", "rules://Norway"),
        to_call("good:tt"),
    ];
    let site = site(&[("good", &good)], "", &requests).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let result = session.call("t", json!({})).await;
        let answers = answers(&result.unwrap_or_else(|error| panic!("{way:?}: {error}")));
        assert_eq!(
            answers[0]["result"]["structuredContent"]["x"], "y",
            "{way:?}"
        );
        assert_eq!(
            answers[1]["result"]["contents"][0]["text"], "be polite",
            "{way:?}"
        );
        let message = "remote `good` has no tool `tt`; there is `t`";
        assert_eq!(answers[2]["error"]["message"], message, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_reach_the_client_and_nothing_runs_twice() {
    let requests = ["good:w", "far:t", "good:w", "far:t", "good:w"].map(to_call);
    for version in ["2025-11-25", "2026-07-28"] {
        let far = asking(version, 1);
        let good = plain(data(json!({})));
        let site = site(&[("far", &far), ("good", &good)], "", &requests).await;
        for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
            let options = Options::new().answers(Oslo);
            let session = site.connect_with(way, endpoint, options).await;
            let result = session.call("t", json!({})).await;
            let result = result.unwrap_or_else(|error| panic!("{version} {way:?}: {error}"));
            let answers = answers(&result);
            for at in [1, 3] {
                let city = &answers[at]["result"]["structuredContent"]["is"];
                assert_eq!(city, "Oslo", "{version} {way:?}: {answers:?}");
            }
            let calls = 3 * (number + 1);
            assert_eq!(good.received("tools/call"), calls, "{version} {way:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hung_remote_costs_the_caller_its_time_and_nothing_else() {
    let hung = plain(never());
    let limits = "limits = { timeout = \"1s\", instances = { max = 1 } }\n";
    let site = site(&[("hung", &hung)], limits, &[to_call("hung:t")]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let called = timeout(PATIENCE, session.call("t", json!({}))).await;
        let error = called.expect("in time").expect_err("it takes too long");
        let expected = "servlet `planner` did not finish `call` within 1s";
        assert!(error.to_string().contains(expected), "{way:?}: {error}");
    }
    eventually("the remote learns of it", async || {
        hung.received("notifications/cancelled") == WAYS.len()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_a_servlet_makes_up_are_in_no_metric() {
    let config = format!(
        "{WEB}bundles = [\"planner\"]\n[servlet.planner]\nsource = \"planner.wasm\"\n\
         allow = {{ tools = [\"gone:*\"] }}\n[remote.gone]\nurl = \"http://127.0.0.1:1/mcp\"\n"
    );
    let planner = caller(&[to_call("gone:made-up")], "").wasm();
    let site = Site::start(&config, &[("planner.wasm", &planner)]).await;
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    let result = session.call("t", json!({})).await.expect("a result");
    assert_eq!(answers(&result)[0]["error"]["kind"], "connectivity");
    let metrics = site.service.metrics();
    assert!(metrics.contains("servlet=\"planner\""), "{metrics}");
    assert!(!metrics.contains("made-up"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_fails_has_the_kind_and_the_text_of_the_failure() {
    let hung = plain(never());
    let error = json!({ "code": -32050, "message": "broken", "data": "why" });
    let broken = plain(json!({ "error": error }));
    let liar = plain(json!({ "result": { "content": "no list" } }));
    let planner = ["hung:t", "broken:t", "liar:t"].map(to_call);
    let planner = caller(&planner, "").wasm();
    let mut config = format!(
        "{WEB}bundles = [\"planner\"]\n[servlet.planner]\nsource = \"planner.wasm\"\n\
         allow = {{ tools = [\"hung:*\", \"broken:*\", \"liar:*\"] }}\n"
    );
    for (name, puppet, settings) in [
        ("hung", &hung, "timeout = \"200ms\"\n"),
        ("broken", &broken, ""),
        ("liar", &liar, ""),
    ] {
        config += &remote(name, puppet, settings).await;
    }
    let site = Site::start(&config, &[("planner.wasm", &planner)]).await;
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    let result = session.call("t", json!({})).await.expect("a result");
    let answers = answers(&result);
    let [hung, broken, liar] = [0, 1, 2].map(|at| &answers[at]["error"]);
    assert_eq!(hung["kind"], "timeout", "{hung}");
    let message = "remote `hung` did not answer `tools/call` within 200ms";
    assert_eq!(hung["message"], message);
    assert_eq!(broken["kind"], "remote", "{broken}");
    assert_eq!(broken["message"], "broken");
    assert_eq!(broken["data"], "why");
    assert_eq!(liar["kind"], "bad_output", "{liar}");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_messages_of_a_callee_keep_their_logger() {
    let log = json!({ "level": "warning", "logger": "far", "data": { "at": 1 } });
    let before = json!([{ "method": "notifications/message", "params": log }]);
    let far = plain(json!({ "before": before, "result": { "content": [] } }));
    let site = site(&[("far", &far)], "", &[to_call("far:t")]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let mut events = session.events();
        let level = json!({ "io.modelcontextprotocol/logLevel": "info" });
        let options = CallOptions::new().meta(level.as_object().cloned().expect("an object"));
        let called = session.call_with("t", json!({}), &options).await;
        called.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let event = timeout(PATIENCE, events.next()).await.expect("in time");
        let expected = Event::Log {
            level: "warning".to_owned(),
            logger: Some("far".to_owned()),
            data: json!({ "at": 1 }),
        };
        assert_eq!(event.expect("open").expect("an event"), expected, "{way:?}");
    }
}
