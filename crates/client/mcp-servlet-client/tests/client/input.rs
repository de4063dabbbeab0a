//! What servers ask of the client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mcp_servlet_client::{
    Answers, CallOptions, CancellationToken, Elicitation, Era, ErrorKind, Input, Limits, Offers,
    Options, Root, Session,
};
use puppet::Puppet;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::support::{arrived, attach, attach_with, forgotten};

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
async fn elicitation_during_a_call_is_answered() {
    let options = Options::new().answers(Everything);
    let got = answer("elicits", &options, Value::Null).await;
    assert_eq!(
        got["answer"],
        json!({ "action": "accept", "content": { "city": "Oslo" } })
    );
}

#[tokio::test]
async fn elicitation_over_http_is_answered_after_calls_that_failed_or_were_cancelled() {
    let ask = json!({
        "method": "elicitation/create",
        "params": {
            "message": "Which city?",
            "requestedSchema": { "type": "object", "properties": { "city": { "type": "string" } } },
        },
    });
    let answered = json!({ "content": [], "structuredContent": "$answer" });
    let script = json!({
        "versions": ["2025-11-25"],
        "replies": { "tools/call": [{ "status": 503 }, {}, { "ask": ask, "result": answered }] },
    });
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let target = format!("http://{}/mcp", puppet.http().await);
    let options = Options::new().answers(Everything);
    let session = Session::connect_with(&target.parse().expect("a URL"), &options).await;
    let session = session.expect("a session");
    let error = session.call("any", Value::Null).await;
    assert_eq!(error.expect_err("an error").http_status(), Some(503));
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let error = session.call_with("any", Value::Null, &options).await;
    let error = error.expect_err("a timeout");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout);
    arrived(&puppet, "notifications/cancelled").await;
    let result = session.call("any", Value::Null).await.expect("a result");
    let answer = result.structured.expect("structured content");
    let expected = r#"{"action":"accept","content":{"city":"Oslo"}}"#;
    assert_eq!(answer.get(), expected);
    forgotten(&session).await;
    assert_eq!(puppet.received("notifications/cancelled"), 1);
}

#[tokio::test]
async fn elicitation_is_declined_without_answers() {
    let got = answer("elicits", &Options::new(), Value::Null).await;
    assert_eq!(got["answer"], json!({ "action": "decline" }));
}

#[tokio::test]
async fn sampling_and_roots_are_answered_by_the_same_trait() {
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

/// Answers with the request itself.
struct Mirror;

impl Answers for Mirror {
    fn sample(&self, request: Value) -> BoxFuture<'_, Option<Value>> {
        Box::pin(async { Some(request) })
    }
}

#[tokio::test]
async fn a_request_arrives_as_the_server_wrote_it() {
    let params =
        json!({ "temperature": 0.3, "_meta": { "a": 1 }, "x": 0, "maxTokens": 1, "messages": [] });
    let script = json!({ "versions": ["2025-11-25"], "replies": { "tools/call": [
        {
            "ask": { "method": "sampling/createMessage", "params": params },
            "result": { "content": [], "structuredContent": "$answer" }
        },
        {
            "ask": { "method": "sampling/createMessage", "params": [1] },
            "result": { "content": [], "structuredContent": "$answer" }
        }
    ] } });
    let session = session_with(script, Mirror).await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        let result = session.call("any", Value::Null).await.expect("a result");
        answers.push(result.structured.expect("structured content"));
    }
    let answers = answers
        .iter()
        .map(|answer| serde_json::from_str(answer.get()).expect("JSON"));
    let answers: Vec<Value> = answers.collect();
    assert_eq!(answers[0], params);
    assert_eq!(answers[1]["code"], -32602);
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
async fn the_client_declares_what_it_answers() {
    for (options, expected) in [
        (Options::new(), json!({})),
        (
            Options::new().answers(Everything),
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "context": {}, "tools": {} }, "roots": {} }),
        ),
    ] {
        let (_session, puppet) = attach_with("plain", &options.era(Era::Handshake)).await;
        assert_eq!(puppet.log()[0]["params"]["capabilities"], expected);
    }
}

#[tokio::test]
async fn a_result_that_asks_for_input_is_answered() {
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

/// Counts elicitation requests, and never answers if it has a token, which it cancels instead.
#[derive(Default)]
struct Counting {
    asked: Arc<AtomicUsize>,
    cancel: Option<CancellationToken>,
}

impl Answers for Counting {
    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Input> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match &self.cancel {
            None => Box::pin(async { Input::Decline }),
            Some(token) => {
                token.cancel();
                Box::pin(std::future::pending())
            }
        }
    }
}

#[tokio::test]
async fn the_user_is_asked_as_often_as_the_limit_allows() {
    for limit in [10, 1, 0] {
        let asked = Arc::default();
        let answers = Counting {
            asked: Arc::clone(&asked),
            cancel: None,
        };
        let mut limits = Limits::default();
        limits.input_rounds = limit;
        let options = Options::new().answers(answers).limits(limits);
        let (session, puppet) = attach_with("input-for-ever", &options).await;
        let error = session.call("any", Value::Null).await.expect_err("a limit");
        assert_eq!(error.kind(), ErrorKind::Limit);
        let message = format!("the server asked for input more than {limit} times");
        assert_eq!(error.message(), message);
        assert_eq!(asked.load(Ordering::Relaxed), limit);
        assert_eq!(puppet.received("tools/call"), limit + 1);
    }
}

#[tokio::test]
async fn a_call_can_be_cancelled_while_the_user_is_asked() {
    for script in ["input-for-ever", "elicits"] {
        let token = CancellationToken::new();
        let answers = Counting {
            cancel: Some(token.clone()),
            ..Counting::default()
        };
        let (session, _) = attach_with(script, &Options::new().answers(answers)).await;
        let options = CallOptions::new().cancel_with(token);
        let call = session.call_with("any", Value::Null, &options);
        let call = tokio::time::timeout(Duration::from_secs(5), call).await;
        let error = call.expect("an end").expect_err("cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{script}");
        assert_eq!(error.operation(), Some("tools/call"));
        assert_eq!(session.waiting(), 0);
    }
}

/// Answers after some time.
struct Slow(Duration);

impl Answers for Slow {
    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Input> {
        let wait = tokio::time::sleep(self.0);
        Box::pin(async {
            wait.await;
            Input::Accept(json!({}))
        })
    }
}

/// A session with a server that plays this script, and with answers.
async fn session_with(script: Value, answers: impl Answers) -> Session {
    let puppet = Puppet::with(serde_json::from_value(script).expect("a script"));
    let (reader, writer) = puppet.pipe();
    let options = Options::new().era(Era::Handshake).answers(answers);
    let session = Session::attach(reader, writer, &options).await;
    session.expect("a session")
}

#[tokio::test(start_paused = true)]
async fn time_in_which_the_user_is_asked_does_not_count() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "Which city?" } });
    let done = json!({ "content": [{ "type": "text", "text": "done" }] });
    let replies = json!([{ "ask": ask, "result": done }, { "ask": ask }]);
    let script = json!({ "versions": ["2025-11-25"], "replies": { "tools/call": replies } });
    let session = session_with(script, Slow(Duration::from_millis(400))).await;
    let options = CallOptions::new().timeout(Duration::from_millis(200));
    let result = session.call_with("any", Value::Null, &options).await;
    assert_eq!(result.expect("a result").text(), "done");
    // After the answer to the second request, the server says nothing more.
    let start = Instant::now();
    let error = session.call_with("any", Value::Null, &options).await;
    let error = error.expect_err("a timeout");
    assert_eq!(error.kind(), ErrorKind::RequestTimeout);
    assert_eq!(error.message(), "no response within 200ms");
    // Its answer takes 400 ms.
    let passed = start.elapsed();
    assert!(passed >= Duration::from_millis(600), "{passed:?}");
    assert!(passed < Duration::from_millis(650), "{passed:?}");
}

#[tokio::test]
async fn a_url_that_the_user_has_opened_has_no_content() {
    let params = json!({ "message": "Log in.", "mode": "url", "url": "https://example.com" });
    let ask = json!({ "method": "elicitation/create", "params": params });
    let result = json!({ "content": [], "structuredContent": "$answer" });
    let script = json!({
        "versions": ["2025-11-25"],
        "replies": { "tools/call": [{ "ask": ask, "result": result }] },
    });
    let session = session_with(script, Slow(Duration::ZERO)).await;
    let result = session.call("any", Value::Null).await.expect("a result");
    let answer = result.structured.expect("structured content");
    assert_eq!(answer.get(), r#"{"action":"accept"}"#);
}

#[tokio::test]
async fn a_server_can_give_its_request_up() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "Which city?" } });
    let cancel =
        json!({ "method": "notifications/cancelled", "params": { "requestId": "puppet-1" } });
    let answer = json!({ "content": [], "structuredContent": "$answer" });
    let script = json!({
        "versions": ["2025-11-25"],
        "replies": { "tools/call": [
            { "ask": ask, "result": answer },
            { "before": [cancel], "result": { "content": [] } },
        ] },
    });
    let (asked, mut answering) = mpsc::channel(1);
    let session = session_with(script, Pending(asked)).await;
    let mut asking = std::pin::pin!(session.call("any", Value::Null));
    let mut open = tokio::select! {
        _ = &mut asking => panic!("it waits for the answer"),
        open = answering.recv() => open.expect("a request"),
    };
    session.call("any", Value::Null).await.expect("a result");
    let dropped = tokio::time::timeout(Duration::from_secs(5), open.closed()).await;
    dropped.expect("nothing waits for the answer");
}

#[tokio::test(start_paused = true)]
async fn a_request_ends_with_its_server_and_holds_up_no_other_call() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "Which city?" } });
    let replies = json!([{ "ask": ask }, { "exit": 3 }]);
    let script = json!({ "versions": ["2025-11-25"], "replies": { "tools/call": replies } });
    let (asked, mut answering) = mpsc::channel(1);
    let session = session_with(script, Pending(asked)).await;
    let start = Instant::now();
    let ending = async {
        let open = answering.recv().await.expect("a request");
        (session.call("any", Value::Null).await, open)
    };
    let (first, (second, open)) = tokio::join!(session.call("any", Value::Null), ending);
    for called in [first, second] {
        let error = called.expect_err("the server is gone");
        assert_eq!(error.kind(), ErrorKind::Connectivity);
    }
    assert!(open.is_closed(), "the user is still asked");
    // rmcp would wait for 5 s.
    let passed = start.elapsed();
    assert!(passed < Duration::from_secs(1), "{passed:?}");
}

/// Never answers, and sends the other end of what it holds meanwhile.
struct Pending(mpsc::Sender<oneshot::Sender<()>>);

impl Answers for Pending {
    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Input> {
        Box::pin(async {
            let (sender, held) = oneshot::channel();
            self.0.send(sender).await.expect("a test");
            let _ = held.await;
            Input::Decline
        })
    }
}

#[tokio::test]
async fn an_unknown_request_for_input_is_an_error() {
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
