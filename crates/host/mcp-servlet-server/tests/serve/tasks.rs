//! Calls that become tasks: `io.modelcontextprotocol/tasks`.

use std::time::{Duration, Instant};

use mcp_servlet_call::Limit;
use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Instances, LoadOptions};
use mcp_servlet_server::{HttpOptions, ServeOptions, TaskOptions};
use puppet::{PATIENCE, eventually, eventually_blocking};
use serde_json::{Value, json};
use wire::{
    Answer,
    message::{able, stateless},
};

use crate::{
    attached::attach,
    client::{Served, start},
    support::Wat,
};

/// Loops for much longer than a millisecond.
const SLOW: &str = "(local $n i32) (loop $l (br_if $l (i32.lt_u (local.tee $n \
                    (i32.add (local.get $n) (i32.const 1))) (i32.const 300000000))))";

/// Never ends if the arguments are long.
const ENDLESS: &str =
    "(if (i64.gt_u (call $input_length) (i64.const 2000)) (then (loop $l (br $l))))";

const ANSWER: &str = r#"{"content":[],"vendor":{"b":1,"a":2}}"#;

/// A servlet with one instance and one tool, whose calls run `body` and return `answer`.
fn host(support: Option<&str>, body: &str, answer: &str) -> Host {
    let wat = described(support).export(
        "call",
        answer,
        &format!("{body} (call $output {{}}) (i32.const 0)"),
    );
    compose(&wat)
}

fn described(support: Option<&str>) -> Wat {
    let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    if let Some(support) = support {
        tool["execution"] = json!({"taskSupport": support});
    }
    Wat::new().describe(&json!({"tools": [tool]}).to_string())
}

fn compose(wat: &Wat) -> Host {
    let mut options = LoadOptions::default();
    options.instances = Instances::ONE.into();
    options.limits.timeout = Limit::Unlimited;
    options.wait = Some(PATIENCE);
    let servlet = wat.load_with(&options).expect("a servlet");
    Host::new(vec![servlet])
}

fn options(change: impl FnOnce(&mut TaskOptions)) -> ServeOptions {
    let mut options = ServeOptions::default();
    change(&mut options.tasks);
    options
}

fn serve(host: Host, options: ServeOptions) -> Served {
    Served::start_with(host, options, HttpOptions::default())
}

/// A request from a client that supports tasks.
fn with_tasks(method: &str, params: Value) -> Value {
    let extensions = json!({"io.modelcontextprotocol/tasks": {}});
    let capabilities = json!({"elicitation": {}, "extensions": extensions});
    able(stateless(method, params), capabilities)
}

fn call(served: &Served, params: Value) -> Value {
    let called = served.http.post(&with_tasks("tools/call", params));
    called.message()["result"].clone()
}

fn about(served: &Served, method: &str, id: &str, mut params: Value) -> Answer {
    params["taskId"] = id.into();
    served.http.post(&with_tasks(method, params))
}

fn get(served: &Served, id: &str) -> Value {
    about(served, "tasks/get", id, json!({})).message()["result"].clone()
}

fn id(created: &Value) -> &str {
    assert_eq!(created["resultType"], "task", "{created}");
    created["taskId"].as_str().expect("an id")
}

/// The task once it has left this state.
fn after(served: &Served, id: &str, state: &str) -> Value {
    eventually_blocking(format!("a task that is not `{state}`"), || {
        let task = get(served, id);
        (task["status"] != state).then_some(task)
    })
}

#[test]
fn slow_call_becomes_a_task_with_the_result_of_the_servlet() {
    let served = serve(
        host(None, SLOW, ANSWER),
        options(|tasks| tasks.after = Duration::from_millis(1)),
    );
    let created = call(&served, json!({"name": "t"}));
    let id = id(&created);
    assert_eq!(created["status"], "working");
    assert_eq!(created["ttlMs"], 30 * 60 * 1000);
    for absent in ["result", "content", "task", "requestState"] {
        assert_eq!(created.get(absent), None);
    }
    let task = after(&served, id, "working");
    assert_eq!(task["status"], "completed");
    assert_eq!(task["resultType"], "complete");
    assert_eq!(task["taskId"], id);
    assert_eq!(task["result"]["vendor"].to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(task["result"]["resultType"], "complete");
}

#[test]
fn calls_that_are_quick_and_clients_that_have_no_tasks_are_answered_at_once() {
    let served = serve(host(None, "", ANSWER), ServeOptions::default());
    assert_eq!(call(&served, json!({"name": "t"}))["content"], json!([]));
    drop(served);
    let slow = || host(None, SLOW, ANSWER);
    let served = serve(slow(), options(|tasks| tasks.after = Duration::ZERO));
    let plain = served.ask("tools/call", json!({"name": "t"})).message();
    assert_eq!(plain["result"]["content"], json!([]));
    let session = served.open();
    let legacy = session.ask("tools/call", json!({"name": "t"}));
    assert_eq!(legacy.message()["result"]["content"], json!([]));
    drop(served);
    let served = serve(slow(), options(|tasks| tasks.max = 0));
    assert_eq!(call(&served, json!({"name": "t"}))["content"], json!([]));
    let refused = about(&served, "tasks/get", "a", json!({}));
    assert_eq!(refused.code(), (404, -32601));
}

#[test]
fn tools_say_whether_they_are_tasks() {
    let served = |support| {
        serve(
            host(Some(support), "", ANSWER),
            options(|tasks| tasks.after = Duration::ZERO),
        )
    };
    let required = served("required");
    id(&call(&required, json!({"name": "t"})));
    let refused = required.ask("tools/call", json!({"name": "t"}));
    assert_eq!(refused.code(), (400, -32021));
    let needed = &refused.message()["error"]["data"]["requiredCapabilities"];
    assert_eq!(
        needed,
        &json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
    );
    let session = required.open();
    let legacy = session.ask("tools/call", json!({"name": "t"}));
    assert_eq!(legacy.message()["error"]["code"], -32021);
    let optional = served("optional");
    id(&call(&optional, json!({"name": "t"})));
    let plain = optional.ask("tools/call", json!({"name": "t"})).message();
    assert_eq!(plain["result"]["content"], json!([]));
    let forbidden = serve(
        host(Some("forbidden"), SLOW, ANSWER),
        options(|tasks| tasks.after = Duration::ZERO),
    );
    assert_eq!(call(&forbidden, json!({"name": "t"}))["content"], json!([]));
}

#[test]
fn only_stateless_clients_get_tasks() {
    let served = serve(host(None, "", ANSWER), ServeOptions::default());
    let discovered = served.ask("server/discover", json!({})).message();
    let extensions = &discovered["result"]["capabilities"]["extensions"];
    assert_eq!(extensions, &json!({"io.modelcontextprotocol/tasks": {}}));
    let opened = served.http.initialize().message();
    assert_eq!(opened["result"]["capabilities"].get("extensions"), None);
}

/// A request that never ends.
fn endless() -> Value {
    json!({"name": "t", "arguments": {"long": "x".repeat(2000)}})
}

#[test]
fn cancelling_a_task_stops_its_call() {
    let served = serve(
        host(Some("optional"), ENDLESS, ANSWER),
        ServeOptions::default(),
    );
    let created = call(&served, endless());
    let id = id(&created);
    assert_eq!(get(&served, id)["status"], "working");
    for _ in 0..2 {
        let cancelled = about(&served, "tasks/cancel", id, json!({})).message();
        let ack = cancelled["result"].as_object().expect("an acknowledgement");
        assert_eq!(ack.get("status"), None);
        assert_eq!(ack["resultType"], "complete");
    }
    let task = after(&served, id, "working");
    assert_eq!(task["status"], "cancelled");
    assert_eq!(task.get("result").or(task.get("error")), None);
    // The only instance is free again.
    let plain = served.ask("tools/call", json!({"name": "t"})).message();
    assert_eq!(plain["result"]["content"], json!([]));
    assert!(served.service.metrics().contains("outcome=\"cancelled\""));
}

#[test]
fn a_servlet_that_fails_fails_its_task_and_a_tool_that_fails_completes_it() {
    let broken = serve(
        host(Some("optional"), "(unreachable)", ANSWER),
        ServeOptions::default(),
    );
    let created = call(&broken, json!({"name": "t"}));
    let task = after(&broken, id(&created), "working");
    assert_eq!(
        (&task["status"], &task["error"]["code"]),
        (&json!("failed"), &json!(-32603))
    );
    assert!(task["error"]["message"].is_string());
    assert_eq!(task.get("result"), None);
    let failing = r#"{"content":[],"isError":true}"#;
    let failing = serve(host(Some("optional"), "", failing), ServeOptions::default());
    let created = call(&failing, json!({"name": "t"}));
    let task = after(&failing, id(&created), "working");
    assert_eq!(
        (&task["status"], &task["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
}

#[test]
fn expired_task_is_removed() {
    let ttl = Duration::from_millis(300);
    let served = serve(
        host(Some("optional"), ENDLESS, ANSWER),
        options(|tasks| tasks.ttl = ttl),
    );
    let quick = call(&served, json!({"name": "t"}));
    let endless = call(&served, endless());
    let start = Instant::now();
    for created in [quick, endless] {
        let id = id(&created);
        assert_eq!(created["ttlMs"], 300);
        eventually_blocking("the end of the task's time", || {
            let answer = about(&served, "tasks/get", id, json!({})).message();
            answer["error"]["code"] == -32602
        });
    }
    assert!(start.elapsed() + Duration::from_millis(50) >= ttl);
    // The endless call was stopped.
    let plain = served.ask("tools/call", json!({"name": "t"})).message();
    assert_eq!(plain["result"]["content"], json!([]));
}

#[test]
fn number_of_tasks_is_limited() {
    let one = || options(|tasks| tasks.max = 1);
    let optional = serve(host(Some("optional"), "", ANSWER), one());
    id(&call(&optional, json!({"name": "t"})));
    // The unfetched result uses up the limit for tasks, so the next call is answered directly.
    assert_eq!(call(&optional, json!({"name": "t"}))["content"], json!([]));
    let required = serve(host(Some("required"), "", ANSWER), one());
    id(&call(&required, json!({"name": "t"})));
    let call = with_tasks("tools/call", json!({"name": "t"}));
    let refused = required.http.post(&call);
    assert_eq!(refused.code(), (200, -32000));
    assert_eq!(refused.message()["error"]["data"], json!({"retry": true}));
}

#[test]
fn results_of_tasks_have_a_size_limit() {
    // `ANSWER` with its type takes less than a KiB, which is the unit.
    let two = options(|tasks| tasks.results = Some(2 << 10));
    let served = serve(host(Some("required"), "", ANSWER), two);
    let statuses = (0..3).map(|_| {
        let created = call(&served, json!({"name": "t"}));
        after(&served, id(&created), "working")
    });
    let tasks: Vec<_> = statuses.collect();
    let statuses = tasks.iter().map(|task| &task["status"]);
    assert!(statuses.eq(["completed", "completed", "failed"]));
    let error = &tasks[2]["error"];
    assert_eq!(error["code"], -32000);
    assert_eq!(error["data"], json!({"retry": true}));
    let message = error["message"].as_str().expect("text");
    assert!(message.contains("2048 bytes together"), "{message}");
}

#[test]
fn the_room_of_a_result_is_free_when_its_time_is_up() {
    let one = options(|tasks| {
        tasks.results = Some(1);
        tasks.ttl = Duration::from_millis(300);
    });
    let served = serve(host(Some("required"), "", ANSWER), one);
    let start = Instant::now();
    for _ in 0..2 {
        eventually_blocking("room for a result", || {
            let created = call(&served, json!({"name": "t"}));
            let task = after(&served, id(&created), "working");
            if task["status"] == "completed" {
                Ok(())
            } else {
                Err(task)
            }
        });
    }
    assert!(start.elapsed() >= Duration::from_millis(300));
}

#[test]
fn error_for_a_too_large_result_is_not_retryable() {
    let text = "x".repeat(5000);
    let answer = json!({"content": [{"type": "text", "text": text}]}).to_string();
    let small = options(|tasks| tasks.results = Some(4 << 10));
    let served = serve(host(Some("required"), "", &answer), small);
    let created = call(&served, json!({"name": "t"}));
    let task = after(&served, id(&created), "working");
    assert_eq!(task["error"]["data"], json!({"retry": false}), "{task}");
}

fn completed(served: &Served, id: &str) {
    eventually_blocking("the result of the task", || {
        let task = get(served, id);
        if task["status"] == "completed" {
            Ok(())
        } else {
            Err(task)
        }
    });
}

#[test]
fn task_continues_after_all_input_responses() {
    let form = |message: &str| {
        json!({"method": "elicitation/create", "params": {
            "message": message, "requestedSchema": {"type": "object", "properties": {}}, "vendor": 1,
        }})
    };
    let asks = json!({
        "resultType": "input_required", "requestState": "s",
        "inputRequests": {"a": form("A?"), "b": form("B?")},
    });
    let again = json!({"resultType": "input_required", "inputRequests": {"a": form("Really?")}});
    let texts = [asks.to_string(), again.to_string(), ANSWER.to_owned()];
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let served = serve(
        compose(&described(Some("optional")).answers(&texts)),
        ServeOptions::default(),
    );
    let created = call(&served, json!({"name": "t"}));
    let id = id(&created);
    let asked = after(&served, id, "working");
    assert_eq!(asked["status"], "input_required");
    assert_eq!(asked.get("requestState"), None);
    let input_requests = asked["inputRequests"].as_object().expect("input requests");
    let keys: Vec<_> = input_requests.keys().cloned().collect();
    let asked: Vec<_> = input_requests.values().cloned().collect();
    assert_eq!(asked, [form("A?"), form("B?")]);
    let accepted = json!({"action": "accept", "content": {}});
    let update = |key: &str| {
        about(
            &served,
            "tasks/update",
            id,
            json!({"inputResponses": {key: accepted, "x": 1}}),
        )
    };
    assert_eq!(
        update(&keys[0]).message()["result"]["resultType"],
        "complete"
    );
    let left = get(&served, id);
    assert_eq!(
        left["inputRequests"]
            .as_object()
            .map(|left| left.keys().collect::<Vec<_>>()),
        Some(vec![&keys[1]])
    );
    update(&keys[1]);
    update(&new_input_request(&served, id, &keys));
    completed(&served, id);
}

/// Waits until a task asks for something else than before, and returns the key of that request.
fn new_input_request(served: &Served, id: &str, before: &[String]) -> String {
    eventually_blocking("another input request", || {
        let task = get(served, id);
        let key = task["inputRequests"].as_object()?.keys().next()?;
        (!before.contains(key)).then(|| key.clone())
    })
}

#[test]
fn clients_cannot_see_the_tasks_of_others() {
    let served = serve(host(Some("optional"), "", ANSWER), ServeOptions::default());
    let created = call(&served, json!({"name": "t"}));
    let id = id(&created);
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = json!({"taskId": id, "inputResponses": {}});
        let answer = over_a_pipe(&served, &with_tasks(method, params));
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        let other = about(&served, method, "0123", json!({"inputResponses": {}}));
        assert_eq!(other.message()["error"]["code"], -32602);
    }
    assert_eq!(get(&served, id)["status"], "completed");
}

/// The response to one request of another client, which is connected by a pipe.
fn over_a_pipe(to: &Served, message: &Value) -> Value {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async move {
        let (mut client, serving) = attach(&to.service);
        let answer = client.ask(message).await;
        client.close().await;
        serving.await.expect("no panic").expect("a graceful end");
        answer
    })
}

#[tokio::test]
async fn tasks_end_with_their_client() {
    let host = host(Some("optional"), ENDLESS, ANSWER);
    let service = start(host, ServeOptions::default()).await;
    let (mut client, serving) = attach(&service);
    let created = client.ask(with_tasks("tools/call", endless())).await;
    assert!(created["result"]["taskId"].is_string(), "{created}");
    client.close().await;
    serving.await.expect("no panic").expect("a graceful end");
    let ended = "outcome=\"cancelled\"} 1";
    eventually(ended, async || service.metrics().contains(ended)).await;
}
