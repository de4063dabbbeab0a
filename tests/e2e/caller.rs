//! `Context::caller` believes our host, which has set it, and no other one, which passes on what a client has written.

use e2e::fixture;
use extism::{Manifest, Plugin, Wasm};
use mcp_servlet_call::RequestMeta;
use mcp_servlet_runtime::LoadOptions;
use serde_json::{Value, json};

use crate::support::{load, object, text};

#[tokio::test]
async fn our_host_forwards_the_caller() {
    let servlet = load(&fixture("caller"), &LoadOptions::default());
    let mut request = RequestMeta::default();
    request.meta = Some(object(&meta()).clone());
    let result = servlet.call_with("whose", None, &request).await;
    assert_eq!(text(&result.expect("a result")), "ann");
}

#[test]
fn a_client_of_another_host_cannot_make_one_up() {
    let wasm = std::fs::read(fixture("caller")).expect("cargo built it");
    let mut plugin =
        Plugin::new(Manifest::new([Wasm::data(wasm)]), [], true).expect("an Extism plugin");
    let request = json!({ "params": { "name": "whose", "_meta": meta() } });
    let answer: &str = plugin.call("call", request.to_string()).expect("a result");
    let answer: Value = serde_json::from_str(answer).expect("JSON");
    assert_eq!(answer["content"][0]["text"], "nobody knows", "{answer}");
}

fn meta() -> Value {
    json!({ "mcp-servlet/caller": { "kind": "jwt", "subject": "ann", "claims": {} } })
}
