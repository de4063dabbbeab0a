//! What servers ask of the client.

use futures_util::future::BoxFuture;
use mcp_servlet_client::{Answers, Elicitation, Era, ErrorKind, Input, Offers, Options, Root};
use serde_json::{Value, json};

use crate::support::{attach, attach_with};

/// Answers everything.
struct Everything;

impl Answers for Everything {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            sampling: true,
            roots: true,
        }
    }

    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, Input> {
        assert_eq!(request.message, "Which city?");
        assert!(request.schema.is_some() && request.url.is_none());
        Box::pin(async { Input::Accept(json!({ "city": "Oslo" })) })
    }

    fn sample(&self, _: Value) -> BoxFuture<'_, Option<Value>> {
        let answer = json!({ "role": "assistant", "content": { "type": "text", "text": "hi" }, "model": "m" });
        Box::pin(async { Some(answer) })
    }

    fn roots(&self) -> BoxFuture<'_, Vec<Root>> {
        let root = Root {
            uri: "file:///home".to_owned(),
            name: None,
        };
        Box::pin(async { vec![root] })
    }
}

async fn answer(script: &str, options: &Options, arguments: Value) -> Value {
    let (session, _) = attach_with(script, options).await;
    let result = session.call("any", arguments).await.expect("a result");
    let structured = result.structured.expect("structured content");
    serde_json::from_str(structured.get()).expect("JSON")
}

#[tokio::test]
async fn a_question_during_a_call_is_answered() {
    let options = Options::new().answers(Everything);
    let got = answer("elicits", &options, Value::Null).await;
    assert_eq!(
        got["answer"],
        json!({ "action": "accept", "content": { "city": "Oslo" } })
    );
}

#[tokio::test]
async fn a_question_is_declined_if_nobody_answers() {
    let got = answer("elicits", &Options::new(), Value::Null).await;
    assert_eq!(got["answer"], json!({ "action": "decline" }));
}

#[tokio::test]
async fn models_and_folders_are_asked_through_the_same_trait() {
    let options = Options::new().answers(Everything);
    let ask = async |method: &str| {
        answer("asks-for", &options, json!({ "method": method })).await["answer"].clone()
    };
    assert_eq!(ask("sampling/createMessage").await["content"]["text"], "hi");
    assert_eq!(
        ask("roots/list").await,
        json!({ "roots": [{ "uri": "file:///home" }] })
    );
    assert_eq!(ask("no/such").await["code"], -32601);
    assert_eq!(ask("ping").await, json!({}));
}

#[tokio::test]
async fn without_answers_requests_are_refused() {
    let options = Options::new();
    let ask = async |method: &str| {
        answer("asks-for", &options, json!({ "method": method })).await["answer"].clone()
    };
    assert_eq!(ask("sampling/createMessage").await["code"], -1);
    assert_eq!(ask("roots/list").await, json!({ "roots": [] }));
}

#[tokio::test]
async fn the_server_learns_what_it_may_ask() {
    for (options, expected) in [
        (Options::new(), json!({})),
        (
            Options::new().answers(Everything),
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
        ),
    ] {
        let (_session, puppet) = attach_with("plain", &options.era(Era::Handshake)).await;
        assert_eq!(puppet.log()[0]["params"]["capabilities"], expected);
    }
}

#[tokio::test]
async fn a_question_as_a_result_is_answered() {
    let options = Options::new().answers(Everything);
    let got = answer("input-required", &options, json!({ "x": 1 })).await;
    let params = &got["params"];
    assert_eq!(params["requestState"], "s1");
    assert_eq!(params["arguments"], json!({ "x": 1 }));
    let city = &params["inputResponses"]["city"];
    assert_eq!(
        city,
        &json!({ "action": "accept", "content": { "city": "Oslo" } })
    );
}

#[tokio::test]
async fn questions_without_end_are_a_limit() {
    let (session, puppet) = attach("input-for-ever").await;
    let error = session.call("any", Value::Null).await.expect_err("a limit");
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(puppet.received("tools/call"), 11);
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_an_error() {
    let (session, _) = attach("unknown-input").await;
    let error = session
        .call("any", Value::Null)
        .await
        .expect_err("no answer");
    assert_eq!(error.kind(), ErrorKind::InputRequired);
    assert_eq!(error.kind().exit_code(), 26);
    assert!(error.message().contains("`weather/ask`"), "{error}");
}

#[tokio::test]
async fn a_task_is_a_protocol_error() {
    let (session, _) = attach("task").await;
    let error = session.call("any", Value::Null).await.expect_err("a task");
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert!(error.message().contains("the type `task`"), "{error}");
}
