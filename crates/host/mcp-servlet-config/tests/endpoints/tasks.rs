//! Tools with steps as tasks.

use puppet::eventually;
use serde_json::{Value, json};
use wire::message::{able, stateless};

use crate::{
    site::{Site, WEB},
    steps::asking,
    support::Wat,
    wasm::describe,
};

/// Loops for much longer than the time after which a call becomes a task.
const SLOW: &str = "(local $n i32) (loop $l (br_if $l (i32.lt_u (local.tee $n \
                    (i32.add (local.get $n) (i32.const 1))) (i32.const 300000000))))";

const PLAN: &str = r#"[tasks]
after = "1ms"
[servlet.slow]
source = "slow.wasm"
[servlet.a]
source = "a.wasm"
limits = { instances = { max = 1 }, isolation = "shared" }
[bundle.b.tool.run]
result = { content = "${{ steps.slow.content }}", structuredContent = { asked = "${{ !steps.ask.isError }}" } }
step.slow = { handler = "slow:t" }
step.ask = { handler = "a:t", after = ["slow"] }
"#;

/// The result of a request of a client that has tasks and answers questions.
fn send(site: &Site, method: &str, params: Value) -> Value {
    let capabilities = json!({
        "elicitation": {},
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    let request = able(stateless(method, params), capabilities);
    let response = site.http("web").post(&request).message();
    assert!(response.get("error").is_none(), "{response}");
    response["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_runs_steps_and_asks_for_them() {
    let text = r#"{"content":[{"type":"text","text":"slow"}]}"#;
    let slow = Wat::new().describe(&describe(&["t"]));
    let slow = slow.export(
        "call",
        text,
        &format!("{SLOW} (call $output {{}}) (i32.const 0)"),
    );
    let files = [("a.wasm", &*asking()), ("slow.wasm", &*slow.wasm())];
    let site = Site::start(&format!("{WEB}{PLAN}"), &files).await;
    let task = send(
        &site,
        "tools/call",
        json!({ "name": "run", "arguments": {} }),
    );
    let id = &task["taskId"];
    assert!(id.is_string(), "{task}");
    let get = || send(&site, "tasks/get", json!({ "taskId": id }));
    eventually("the step asks", async || {
        get()["status"] == "input_required"
    })
    .await;
    let asked = get();
    let requests = asked["inputRequests"].as_object().expect("requests");
    let keys: Vec<_> = requests.keys().collect();
    assert_eq!(keys, ["ask.q.1"], "{asked}");
    let responses = json!({ keys[0]: { "action": "accept", "content": {} } });
    let update = json!({ "taskId": id, "inputResponses": responses });
    send(&site, "tasks/update", update);
    eventually("the task ends", async || get()["status"] == "completed").await;
    let done = get();
    let result = &done["result"];
    assert_eq!(result["content"][0]["text"], "slow", "{done}");
    assert_eq!(
        result["structuredContent"],
        json!({ "asked": true }),
        "{done}"
    );
}
