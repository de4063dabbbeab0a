//! The time that requests and questions may take.

use std::time::Duration;

use futures_util::{FutureExt as _, future::BoxFuture};
use mcp_servlet_client::{Answers, Elicitation, Input, Offers, Options};
use serde_json::json;

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way},
    support::Wat,
    wasm::describe,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_takes_too_long_is_stopped() {
    let forever = Wat::new().describe(&describe(&["forever"]));
    let list = json!({ "resources": [{ "uri": "x:", "name": "x" }] }).to_string();
    let contents = json!({ "contents": [{ "uri": "x:", "text": "x" }] }).to_string();
    let wasm = forever
        .export("call", "", "(loop $again (br $again)) (i32.const 0)")
        .export("list_resources", &list, "(call $output {}) (i32.const 0)")
        .each("read_resource", &[&contents])
        .wasm();
    let timeout = "timeout = \"500ms\"\n";
    let config = format!(
        "{WEB}{timeout}{OLD}{timeout}{PIPE}{timeout}[servlet.a]\nsource = \"a.wasm\"\nlimits = {{ instances = {{ max = 1 }} }}\n"
    );
    let site = Site::start(&config, &[("a.wasm", &wasm)]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for _ in 0..2 {
            let error = session
                .call("forever", json!({}))
                .await
                .expect_err("no result");
            let text = format!("{error:?}");
            assert!(
                text.contains("500ms") && text.contains("32603"),
                "{way:?}: {text}"
            );
            assert!(
                text.contains("timeout") && text.contains("0.5"),
                "{way:?}: {text}"
            );
        }
        // The calls were interrupted: the only instance is free.
        session.read_result("x:").await.expect("contents");
    }
}

/// A person who takes some time for an answer.
struct Slow(Duration);

impl Answers for Slow {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            ..Offers::default()
        }
    }

    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Input> {
        async {
            tokio::time::sleep(self.0).await;
            Input::Accept(json!({}))
        }
        .boxed()
    }
}

/// A servlet that asks before it answers.
pub(crate) fn asking() -> Vec<u8> {
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "Go on?", "requestedSchema": schema });
    let question = json!({ "method": "elicitation/create", "params": params });
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": question } });
    let done = json!({ "content": [{ "type": "text", "text": "done" }] });
    let wat = Wat::new().describe(&describe(&["ask"]));
    // Each way asks once and is answered once.
    let texts = [asks.to_string(), done.to_string()];
    let texts: Vec<_> = texts
        .iter()
        .cycle()
        .take(2 * WAYS.len())
        .map(String::as_str)
        .collect();
    wat.answers(&texts).wasm()
}

fn config(more: &str) -> String {
    let one = "limits.isolation = \"shared\"\nlimits.instances.max = 1\n";
    format!("{WEB}{more}{OLD}{more}{PIPE}{more}[servlet.a]\nsource = \"a.wasm\"\n{one}")
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_the_client_does_not_count() {
    let site = Site::start(&config("timeout = \"1s\"\n"), &[("a.wasm", &asking())]).await;
    for (way, endpoint) in WAYS {
        let person = Slow(Duration::from_millis(1500));
        let options = Options::new().answers(person);
        let session = site.connect_with(way, endpoint, options).await;
        let called = session.call("ask", json!({})).await;
        assert_eq!(
            called
                .unwrap_or_else(|error| panic!("{way:?}: {error}"))
                .text(),
            "done"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_have_a_time_of_their_own() {
    let (config, asking) = (config("question_time = \"100ms\"\n"), asking());
    for (way, endpoint) in WAYS {
        // A question without an answer leaves the servlet between two calls, so each client has its own.
        let site = Site::start(&config, &[("a.wasm", &asking)]).await;
        // Clients since 2026-07-28 repeat their request when they have the answer.
        let is_modern = matches!(way, Way::HttpModern | Way::PipeModern);
        let time = is_modern.then_some(Duration::from_millis(400));
        let person = Slow(time.unwrap_or(Duration::MAX));
        let options = Options::new().answers(person);
        let session = site.connect_with(way, endpoint, options).await;
        let called = session.call("ask", json!({})).await;
        if is_modern {
            let called = called.unwrap_or_else(|error| panic!("{way:?}: {error}"));
            assert_eq!(called.text(), "done", "{way:?}");
        } else {
            let error = called.expect_err("no answer").to_string();
            let expected = "no response within 100ms";
            assert!(error.contains(expected), "{way:?}: {error}");
        }
    }
}
