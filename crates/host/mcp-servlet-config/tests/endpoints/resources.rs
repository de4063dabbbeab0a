//! Resources whose contents are kept, and the number of subscriptions to resources.

use std::time::Duration;

use mcp_servlet_client::Session;
use serde_json::{Value, json};

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way},
    support::Wat,
    wasm::describe,
};

/// A servlet that counts how often its resource is read.
fn counter() -> Vec<u8> {
    let list = json!({ "resources": [{ "uri": "count:", "name": "count" }] });
    let contents =
        |text: &str| json!({ "contents": [{ "uri": "count:", "text": text }] }).to_string();
    let texts = ["1", "2", "3", "4", "5", "6"].map(contents);
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    Wat::new()
        .describe(&describe(&["t"]))
        .answer("{}")
        .export(
            "list_resources",
            &list.to_string(),
            "(call $output {}) (i32.const 0)",
        )
        .each("read_resource", &texts)
        .wasm()
}

async fn read(session: &Session) -> Value {
    json!(session.read_result("count:").await.expect("contents").raw)
}

async fn reads(cache: &str) -> Vec<Value> {
    let config = format!(
        "{WEB}{OLD}{PIPE}[servlet.a]\nsource = \"a.wasm\"\nlimits.isolation = \"shared\"\nlimits.instances.max = 1\n{cache}"
    );
    let site = Site::start(&config, &[("a.wasm", &counter())]).await;
    let mut all = Vec::new();
    for (way, endpoint) in WAYS {
        all.push(read(&site.connect(way, endpoint).await).await);
    }
    all
}

fn texts(reads: &[Value]) -> Vec<&str> {
    let texts = reads
        .iter()
        .map(|read| read["contents"][0]["text"].as_str());
    texts.map(|text| text.expect("text")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cache_the_servlet_runs_for_each_read() {
    let reads = reads("").await;
    assert_eq!(texts(&reads), ["1", "2", "3", "4", "5"]);
    assert_eq!(reads[1]["ttlMs"], 0, "a client since 2026-07-28");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_cache_all_endpoints_get_what_was_read_once() {
    let reads = reads("resources = { cache = \"60s\" }\n").await;
    assert_eq!(texts(&reads), ["1"; 5]);
    let left = reads[1]["ttlMs"].as_u64();
    assert!(
        left.is_some_and(|left| (1..=60_000).contains(&left)),
        "{left:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_cannot_subscribe_to_more_than_a_thousand_resources() {
    let config = format!("{WEB}{OLD}{PIPE}[servlet.a]\nsource = \"a.wasm\"\n");
    let site = Site::start(&config, &[("a.wasm", &counter())]).await;
    let uris = |count: usize| (0..count).map(|number| format!("made-up:{number}"));

    let old = site.connect(Way::PipeLegacy, "pipe").await;
    let error = old.watch(uris(1001)).await.expect_err("too many");
    let expected =
        "this session is subscribed to 1000 resources, which is the maximum; unsubscribe from some";
    assert_eq!((error.code(), error.message()), (Some(-32602), expected));
    old.unwatch("made-up:0").await.expect("the end of one");
    old.watch(["count:"]).await.expect("room for another");
    let long = format!("made-up:{}", "x".repeat(8 << 10));
    let too_long = "expected a URI of at most 8192 bytes";
    let error = old.watch([long.clone()]).await.expect_err("too long");
    assert_eq!((error.code(), error.message()), (Some(-32602), too_long));

    for (way, endpoint) in [(Way::HttpModern, "web"), (Way::PipeModern, "pipe")] {
        let new = site.connect(way, endpoint).await;
        new.watch(uris(1000)).await.expect("events");
        let too_many = "a subscription can have at most 1000 resources";
        for (uris, expected) in [
            (uris(1001).collect(), too_many),
            (vec![long.clone()], too_long),
        ] {
            let mut events = new.watch(uris).await.expect("events");
            let end = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
            let error = end.expect("an end").expect("an event");
            let error = error.expect_err("a refusal");
            let found = (error.code(), error.message());
            assert_eq!(found, (Some(-32602), expected), "{way:?}");
        }
    }
}
