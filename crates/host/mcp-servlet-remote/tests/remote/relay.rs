//! What goes between the client of the host and a remote during a call.

use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_call::{InputTimeout, Listener, Notification, RequestMeta, Sending, Withdrawal};
use mcp_servlet_remote::RemoteServer;
use puppet::{PATIENCE, Puppet, eventually};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{
    Heard, child, client, connected, connected_with, host, http, options, script, sse, taking_back,
    with_calls,
};

/// Calls a tool and returns the JSON of its result.
async fn call(remote: &Arc<RemoteServer>, tool: &str, request_meta: &RequestMeta) -> Value {
    let member = remote.member();
    let result = member.call_with(tool, None, request_meta).await;
    result.expect("a result").into_json().into()
}

/// The next request of the client, with its answer.
fn answered(mut request_meta: RequestMeta, result: &Value, answer: Value) -> RequestMeta {
    let key = result["inputRequests"]
        .as_object()
        .expect("questions")
        .keys()
        .next();
    let key = key.expect("a question").clone();
    request_meta.input_responses = json!({ key: answer }).as_object().cloned();
    request_meta.request_state = result["requestState"].as_str().map(str::to_owned);
    request_meta
}

#[tokio::test]
async fn progress_and_log_messages_reach_the_client_of_the_call() {
    for target in [
        child("progress"),
        http(Puppet::new("progress").http().await),
    ] {
        let remote = connected("r", target).await;
        let heard = Arc::new(Heard::default());
        let mut request_meta = client(json!({}));
        request_meta.listener = Some(Arc::<Heard>::clone(&heard));
        call(&remote, "t", &request_meta).await;
        let heard = heard.0.lock().expect("no panic");
        let is = |one: &Value| {
            heard.iter().any(|heard| match heard {
                Notification::Progress(params) | Notification::Message(params) => {
                    Value::Object(params.clone()) == *one
                }
                _ => false,
            })
        };
        for expected in [
            json!({ "progressToken": "mine", "progress": 1, "total": 2, "message": "half" }),
            json!({ "progressToken": "mine", "progress": 2, "total": 2 }),
            json!({ "level": "info", "logger": "puppet", "data": { "at": 1 } }),
        ] {
            assert!(is(&expected), "{expected}: {heard:?}");
        }
    }
}

/// A client that reads nothing.
#[derive(Debug)]
struct Deaf;

impl Listener for Deaf {
    fn notify(&self, _: Notification) -> Sending<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_client_that_stops_reading_neither_delays_a_result_nor_stops_the_time() {
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
    let logs = vec![log; 30];
    let limit = Duration::from_millis(500);
    for (wait, expected) in [(0, Ok(())), (60_000, Err("request_timeout"))] {
        let reply =
            json!([{ "sse": true, "before": logs, "wait_ms": wait, "result": { "content": [] } }]);
        let puppet = with_calls(&["2025-11-25"], reply);
        let mut options = options();
        options.timeout = limit;
        let remote = connected_with("r", http(puppet.http().await), options).await;
        let mut request_meta = client(json!({}));
        request_meta.listener = Some(Arc::new(Deaf));
        let member = remote.member();
        let call = member.call_with("t", None, &request_meta);
        let outcome = tokio::time::timeout(10 * limit, call).await;
        let outcome = outcome.expect("the time of the call goes on");
        assert_eq!(
            outcome.map(|_| ()).map_err(|error| error.kind.name()),
            expected
        );
    }
}

#[tokio::test]
async fn the_remote_gets_no_keys_of_the_host_or_of_the_clients_protocol() {
    for version in ["2025-11-25", "2026-07-28"] {
        let reply = json!([{ "result": { "content": [], "structuredContent": "$params/_meta" } }]);
        let puppet = with_calls(&[version], reply);
        let remote = connected("r", http(puppet.http().await)).await;
        let result = call(
            &remote,
            "t",
            &client(json!({ "sampling": {}, "extensions": {} })),
        )
        .await;
        let meta = &result["structuredContent"];
        assert_eq!(meta["vendor/key"], 1, "{version}");
        assert_eq!(meta["mcp-servlet/caller"], Value::Null, "{version}");
        assert_ne!(meta["progressToken"], "mine", "{version}");
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        let expected = if version == "2026-07-28" {
            json!({ "sampling": {} })
        } else {
            Value::Null
        };
        assert_eq!(*capabilities, expected);
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled() {
    let slow = json!([{ "wait_ms": 60_000, "result": { "content": [] } }]);
    let puppet = with_calls(&["2025-11-25"], slow);
    let remote = connected("r", http(puppet.http().await)).await;
    let request_meta = RequestMeta::default();
    let running = tokio::time::timeout(
        Duration::from_millis(200),
        call(&remote, "t", &request_meta),
    );
    running.await.expect_err("it is slow");
    eventually("`notifications/cancelled`", async || {
        puppet.received("notifications/cancelled") == 1
    })
    .await;
}

#[tokio::test]
async fn a_question_during_a_call_becomes_a_result_that_asks() {
    for target in [child("elicits"), http(Puppet::new("elicits").http().await)] {
        let remote = connected("r", target).await;
        let request_meta = client(json!({ "elicitation": {} }));
        let asked = call(&remote, "t", &request_meta).await;
        assert_eq!(asked["resultType"], "input_required");
        let question = asked["inputRequests"]
            .as_object()
            .expect("one")
            .values()
            .next();
        let question = question.expect("one");
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], "Which city?");
        assert_eq!(question["params"]["requestedSchema"]["type"], "object");
        let answer = json!({ "action": "accept", "content": { "city": "Oslo" } });
        let again = answered(request_meta, &asked, answer.clone());
        let result = call(&remote, "t", &again).await;
        assert_eq!(result["structuredContent"]["answer"], answer);
        // The call is over, so the answer fits nothing any more.
        let error = remote.member().call_with("t", None, &again).await;
        assert_eq!(error.expect_err("no such call").to_rpc_error().code, -32602);
    }
}

#[tokio::test]
async fn an_answer_to_a_question_of_another_process_is_refused() {
    let remote = connected("stay", http(Puppet::new("elicits").http().await)).await;
    let request_meta = client(json!({ "elicitation": {} }));
    let asked = call(&remote, "t", &request_meta).await;
    let mut again = answered(request_meta, &asked, json!({ "action": "cancel" }));
    let state = again.request_state.as_mut().expect("a state");
    // The random number of the process comes first.
    let at = state.find(':').expect("a prefix") + 1;
    let other = if state[at..].starts_with('0') {
        "1"
    } else {
        "0"
    };
    state.replace_range(at..=at, other);
    let refused = remote.member().call_with("t", None, &again).await;
    let error = refused.expect_err("a refusal").to_rpc_error();
    assert_eq!(error.code, -32602);
    let message = "another process of this server has asked, and holds the call of remote `stay`; send the request again \
                   without `requestState`";
    assert!(error.message.ends_with(message), "{}", error.message);
}

#[tokio::test]
async fn nobody_is_asked_who_cannot_answer() {
    let remote = connected("r", http(Puppet::new("elicits").http().await)).await;
    let result = call(&remote, "t", &client(json!({}))).await;
    assert_eq!(
        result["structuredContent"]["answer"],
        json!({ "action": "cancel" })
    );
}

#[tokio::test]
async fn sampling_with_tools_needs_a_client_with_tools() {
    let params = json!({ "messages": [], "maxTokens": 9, "tools": [] });
    let ask = json!({ "method": "sampling/createMessage", "params": params });
    let result = json!({ "content": [], "structuredContent": { "answer": "$answer" } });
    let puppet = with_calls(&["2025-11-25"], json!([{ "ask": ask, "result": result }]));
    let remote = connected("r", http(puppet.http().await)).await;
    let result = call(&remote, "t", &client(json!({ "sampling": {} }))).await;
    let answer = &result["structuredContent"]["answer"];
    assert_eq!(answer["code"], -1, "{result}");
    let able = client(json!({ "sampling": { "tools": {} } }));
    let asked = call(&remote, "t", &able).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
}

#[tokio::test]
async fn a_question_that_may_belong_to_either_of_two_calls_is_refused() {
    let replies = json!([
        { "wait_ms": 1500, "result": { "content": [] } },
        {
            "ask": { "method": "elicitation/create", "params": { "message": "?" } },
            "result": { "content": [], "structuredContent": { "answer": "$answer" } },
        },
    ]);
    let puppet = with_calls(&["2025-11-25"], replies);
    let remote = connected("r", http(puppet.http().await)).await;
    let request_meta = client(json!({ "elicitation": {} }));
    let first = call(&remote, "t", &request_meta);
    let second = async {
        eventually("`tools/call`", async || puppet.received("tools/call") == 1).await;
        call(&remote, "t", &request_meta).await
    };
    let (_, second) = tokio::join!(first, second);
    assert_eq!(
        second["structuredContent"]["answer"],
        json!({ "action": "cancel" })
    );
}

/// A question of a server, for a user.
fn question() -> Value {
    json!({ "method": "elicitation/create", "params": { "message": "?" } })
}

#[tokio::test]
async fn a_question_of_a_cancelled_call_reaches_no_other_client() {
    let ask = json!({ "ask": question(), "result": { "content": [] } });
    let replies = json!([
        { "wait_ms": 600, "ask": question(), "result": { "content": [] } },
        { "wait_ms": 300, "result": { "content": [] } },
        ask,
    ]);
    let puppet = with_calls(&["2025-11-25"], replies);
    let remote = connected("r", sse(puppet.http().await)).await;
    let request_meta = client(json!({ "elicitation": {} }));
    let limit = Duration::from_millis(200);
    let cancelled = tokio::time::timeout(limit, call(&remote, "t", &request_meta));
    cancelled.await.expect_err("it waits");
    let other = call(&remote, "t", &request_meta).await;
    assert_eq!(other["inputRequests"], Value::Null, "{other}");
    assert_eq!(answers(&puppet), 1);
    // The server answers the cancelled call now. Then its questions are clear again.
    let mut later = call(&remote, "t", &request_meta).await;
    for _ in 0..20 {
        if later["resultType"] == "input_required" {
            return;
        }
        later = call(&remote, "t", &request_meta).await;
    }
    panic!("the client is not asked: {later}");
}

#[tokio::test]
async fn a_call_that_waits_for_its_client_does_not_stop_the_questions_of_others() {
    let answered_with = json!({ "content": [], "structuredContent": { "answer": "$answer" } });
    let puppet = with_calls(
        &["2025-11-25"],
        json!([{ "ask": question(), "result": answered_with }]),
    );
    let remote = connected("r", http(puppet.http().await)).await;
    let request_meta = client(json!({ "elicitation": {} }));
    let first = call(&remote, "t", &request_meta).await;
    let second = call(&remote, "t", &request_meta).await;
    for (asked, city) in [(second, "Oslo"), (first, "Rome")] {
        assert_eq!(asked["resultType"], "input_required", "{city}: {asked}");
        let answer = json!({ "action": "accept", "content": { "city": city } });
        let again = answered(request_meta.clone(), &asked, answer.clone());
        let result = call(&remote, "t", &again).await;
        assert_eq!(result["structuredContent"]["answer"], answer);
    }
}

#[tokio::test]
async fn a_call_whose_client_does_not_answer_ends_by_itself() {
    let puppet = with_calls(
        &["2025-11-25"],
        json!([{ "ask": question(), "result": { "content": [] } }]),
    );
    let mut options = options();
    options.question_time = Duration::from_millis(100);
    let remote = connected_with("r", http(puppet.http().await), options).await;
    let request_meta = client(json!({ "elicitation": {} }));
    for _ in 0..2 {
        let before = answers(&puppet);
        let mut asked = call(&remote, "t", &request_meta).await;
        // The earlier call may still run, and the question may then belong to either.
        for _ in 0..20 {
            if asked["resultType"] == "input_required" {
                break;
            }
            asked = call(&remote, "t", &request_meta).await;
        }
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        eventually("the end of the question", async || {
            answers(&puppet) > before
        })
        .await;
    }
    assert_eq!(puppet.received("notifications/cancelled"), 0);
}

#[tokio::test]
async fn the_time_of_a_request_replaces_that_of_the_options() {
    let mut options = options();
    options.question_time = Duration::from_millis(50);
    let puppet = Puppet::new("elicits");
    let target = http(puppet.http().await);
    let remote = connected_with("r", target.clone(), options.clone()).await;
    let mut request_meta = client(json!({ "elicitation": {} }));
    request_meta.input_timeout = Some(InputTimeout::new(Duration::from_mins(1)));
    let asked = call(&remote, "t", &request_meta).await;
    // A later question has the time of the options.
    let other = connected_with("other", target, options).await;
    let unanswered = client(json!({ "elicitation": {} }));
    call(&other, "t", &unanswered).await;
    eventually("its end", async || answers(&puppet) == 1).await;
    let answer = json!({ "action": "accept", "content": { "city": "Oslo" } });
    let again = answered(request_meta, &asked, answer.clone());
    let result = call(&remote, "t", &again).await;
    assert_eq!(result["structuredContent"]["answer"], answer);
}

/// Waits until the question of a call is withdrawn. Its key has this prefix.
async fn is_withdrawn(withdrawal: &Withdrawal, prefix: &str) {
    let key = format!("{prefix}mcp-servlet/question");
    let mut withdrawn = withdrawal.keys();
    let withdrawn = withdrawn.wait_for(|keys| keys.contains(&key));
    let withdrawn = tokio::time::timeout(PATIENCE, withdrawn).await;
    withdrawn.expect("in time").expect("there is a sender");
}

#[tokio::test]
async fn a_question_is_withdrawn_when_the_remote_answers_its_call() {
    let replies =
        json!([{ "ask": question(), "result": { "content": [], "structuredContent": 1 } }]);
    let puppet = with_calls(&["2025-11-25"], replies);
    let address = puppet.http().await;
    for target in [http(address), sse(address)] {
        let remote = connected("r", target).await;
        let withdrawal = Withdrawal::default();
        let mut request_meta = client(json!({ "elicitation": {} }));
        request_meta.withdrawal = Some(withdrawal.of_part("step."));
        let asked = call(&remote, "t", &request_meta).await;
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert!(withdrawal.keys().borrow().is_empty());
        puppet.give_up();
        is_withdrawn(&withdrawal, "step.").await;
        // The result is there, whatever the client sends now.
        let again = answered(request_meta, &asked, json!({ "action": "decline" }));
        let result = call(&remote, "t", &again).await;
        assert_eq!(result["structuredContent"], 1, "{result}");
    }
}

#[tokio::test]
async fn a_question_that_the_remote_takes_back_is_withdrawn_and_stops_no_others() {
    let puppet = taking_back(&question());
    let remote = connected("r", http(puppet.http().await)).await;
    let withdrawal = Withdrawal::default();
    let mut request_meta = client(json!({ "elicitation": {} }));
    request_meta.withdrawal = Some(withdrawal.clone());
    let asked = call(&remote, "t", &request_meta).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    call(&remote, "t", &client(json!({}))).await;
    is_withdrawn(&withdrawal, "").await;
    puppet.give_up();
    // The client of the first call may come back later. The remote has answered it.
    eventually("another question", async || {
        let other = call(&remote, "t", &request_meta).await;
        other["resultType"] == "input_required"
    })
    .await;
}

/// How many questions of a server were answered with `cancel`.
fn answers(puppet: &Puppet) -> usize {
    let cancel = json!({ "action": "cancel" });
    let log = puppet.log();
    log.iter().filter(|one| one["result"] == cancel).count()
}

#[tokio::test]
async fn a_result_that_asks_passes_with_its_state() {
    let puppet = Puppet::new("input-required");
    let remote = connected("r", http(puppet.http().await)).await;
    let request_meta = client(json!({ "elicitation": {} }));
    let asked = call(&remote, "t", &request_meta).await;
    assert_eq!(asked["requestState"], "s1");
    let answer = json!({ "action": "accept", "content": {} });
    let result = call(
        &remote,
        "t",
        &answered(request_meta, &asked, answer.clone()),
    )
    .await;
    let params = &result["structuredContent"]["params"];
    assert_eq!(params["requestState"], "s1");
    assert_eq!(params["inputResponses"], json!({ "city": answer }));
}

#[tokio::test]
async fn a_call_that_waited_for_its_client_does_not_pass_on_the_messages_of_others() {
    let log = json!({
        "method": "notifications/message", "params": { "level": "info", "data": "of the second" },
    });
    let done = json!({ "content": [] });
    let replies = json!([
        { "ask": question(), "result": done },
        { "before": [log], "sse": true, "result": done },
    ]);
    let puppet = with_calls(&["2025-11-25"], replies);
    let remote = connected("r", http(puppet.http().await)).await;
    let [first, second] = [Arc::new(Heard::default()), Arc::new(Heard::default())];
    let mut request_meta = client(json!({ "elicitation": {} }));
    request_meta.listener = Some(Arc::<Heard>::clone(&first));
    let asked = call(&remote, "t", &request_meta).await;
    let mut other = client(json!({}));
    other.listener = Some(Arc::<Heard>::clone(&second));
    call(&remote, "t", &other).await;
    let again = answered(request_meta, &asked, json!({ "action": "decline" }));
    call(&remote, "t", &again).await;
    let count = |heard: &Heard| heard.0.lock().expect("no panic").len();
    assert_eq!((count(&first), count(&second)), (0, 1));
}

/// A client that takes no notification until it is ready.
#[derive(Debug)]
struct Slow {
    /// Has permits when the first notification is there.
    offered: Semaphore,
    /// Closed when it is ready.
    waits: Semaphore,
    heard: Heard,
}

impl Listener for Slow {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        Box::pin(async {
            self.offered.add_permits(1);
            let _ = self.waits.acquire().await;
            self.heard.notify(notification).await;
        })
    }
}

#[tokio::test]
async fn messages_before_a_question_reach_a_slow_client() {
    let log = |at: u64| json!({ "method": "notifications/message", "params": { "level": "info", "data": at } });
    let done = json!({ "content": [] });
    let replies =
        json!([{ "before": [log(1), log(2), log(3)], "ask": question(), "result": done }]);
    let puppet = with_calls(&["2025-11-25"], replies);
    let remote = connected("r", http(puppet.http().await)).await;
    let slow = Arc::new(Slow {
        offered: Semaphore::new(0),
        waits: Semaphore::new(0),
        heard: Heard::default(),
    });
    let mut request_meta = client(json!({ "elicitation": {} }));
    request_meta.listener = Some(Arc::<Slow>::clone(&slow));
    let ready = async {
        let _ = slow.offered.acquire().await;
        assert_eq!(slow.heard.0.lock().expect("no panic").len(), 0);
        slow.waits.close();
    };
    let (asked, ()) = tokio::join!(call(&remote, "t", &request_meta), ready);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(slow.heard.0.lock().expect("no panic").len(), 3);
}

#[tokio::test]
async fn the_reason_why_a_resource_cannot_be_read_reaches_the_client() {
    let reasons = [
        json!({ "code": -32602, "message": "expected a number", "data": { "max": 9 } }),
        json!({ "code": -32002, "message": "gone", "data": { "uri": "t://x/a", "k": 1 } }),
    ];
    let replies: Vec<_> = reasons.iter().map(|one| json!({ "error": one })).collect();
    let template = json!({ "name": "x", "uriTemplate": "t://x/{id}" });
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "resources": {} },
        "replies": {
            "resources/list": [{ "result": { "resources": [] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [template] } }],
            "resources/read": replies,
        },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    let host = host([&remote]);
    for expected in reasons {
        let meta = RequestMeta::default();
        let read = host.read_resource_with("t://x/a", &meta).await;
        let error = read.expect_err("an error");
        assert_eq!(error.kind.name(), "unknown_resource");
        assert_eq!(json!(error.to_rpc_error()), expected);
    }
}

#[tokio::test]
async fn the_metadata_of_a_completion_reaches_the_remote() {
    let puppet = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "completions": {} },
        "replies": { "completion/complete": [{ "result": { "completion": { "values": [] } } }] },
    }));
    let remote = connected("r", http(puppet.http().await)).await;
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "p" },
        "argument": { "name": "a", "value": "" },
        "_meta": { "vendor/key": 1, "mcp-servlet/caller": "forged" },
    });
    let params = params.as_object().expect("an object");
    remote.member().complete(params).await.expect("a result");
    let log = puppet.log();
    let sent = log
        .iter()
        .find(|one| one["method"] == "completion/complete");
    let meta = &sent.expect("a request")["params"]["_meta"];
    assert_eq!(meta["vendor/key"], 1);
    assert_eq!(meta["mcp-servlet/caller"], Value::Null);
}
