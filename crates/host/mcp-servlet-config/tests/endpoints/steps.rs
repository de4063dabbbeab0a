//! Tools with steps: the state of their questions, and rules.

use futures_util::future::BoxFuture;
use mcp_servlet_client::{Answers, Elicitation, Input, Offers, Options};
use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::message::{able, stateless};

use crate::{
    log,
    processes::server,
    site::{PIPE, Site, WAYS, WEB, Way, definitions},
    support::Wat,
    wasm::{describe, echo, echo_as, echo_features, servlet},
};

/// A result that asks.
fn question() -> String {
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "Go on?", "requestedSchema": schema });
    let asks = json!({
        "resultType": "input_required",
        "inputRequests": { "q": { "method": "elicitation/create", "params": params } },
        "requestState": "s",
    });
    asks.to_string()
}

/// Whether the input has `inputResponses`.
const IS_ANSWERED: &str = "(func $is_answered (result i32) (local $i i64)
    (loop $next
        (if (i64.ge_u (i64.add (local.get $i) (i64.const 1)) (call $input_length))
            (then (return (i32.const 0))))
        (if (i32.and
                (i32.eq (call $input (local.get $i)) (i32.const 0x74)) ;; t
                (i32.eq (call $input (i64.add (local.get $i) (i64.const 1))) (i32.const 0x52))) ;; R
            (then (return (i32.const 1))))
        (local.set $i (i64.add (local.get $i) (i64.const 1)))
        (br $next))
    (unreachable))";

/// A servlet whose calls ask until they are answered.
pub(crate) fn asking() -> Vec<u8> {
    asking_as(&describe(&["t"]))
}

/// The same with this description.
fn asking_as(description: &str) -> Vec<u8> {
    let question = question();
    let ask = format!(
        "(call $output (i32.const 0) (i32.const {}))",
        question.len()
    );
    let call =
        format!("(if (call $is_answered) (then (call $output {{}})) (else {ask})) (i32.const 0)");
    let wat = Wat::new().text(&question).describe(description);
    let wat = wat.export("call", r#"{"content":[]}"#, &call);
    wat.after(IS_ANSWERED).wasm()
}

pub(crate) const ASKS: &str = r#"limits = { instances = { max = 1 }, isolation = "shared" }
[servlet.e]
source = "e.wasm"
[bundle.b.tool.run]
annotations = { readOnlyHint = true }
arguments = { properties = { x = {} } }
result = { content = [], structuredContent = { x = "${{ steps.first.structuredContent }}" } }
step.first = { handler = "e:t", inputs = { x = "${{ request.arguments.?x }}" } }
step.ask = { handler = "a:t", after = ["first"] }
[bundle.b.tool.seen]
result = { content = [], structuredContent = { x = "${{ steps.last.structuredContent }}" } }
step.ask = { handler = "a:t", inputs = { x = "${{ request.meta.item }}" } }
step.last = { handler = "e:t", inputs = { x = "${{ request.meta.item }}" }, after = ["ask"] }
"#;

fn config(more: &str) -> String {
    format!("{WEB}[servlet.a]\nsource = \"a.wasm\"\n{more}")
}

async fn site() -> Site {
    site_of(&config(ASKS)).await
}

async fn site_of(config: &str) -> Site {
    let files = [("a.wasm", &*asking()), ("e.wasm", &*echo(&["t"]))];
    Site::start(config, &files).await
}

/// The response to a request of a client that can answer questions.
pub(crate) fn ask(site: &Site, params: Value) -> Value {
    ask_as(site, &[], params)
}

/// The same, with headers.
fn ask_as(site: &Site, headers: &[(&str, &str)], params: Value) -> Value {
    let request = able(
        stateless("tools/call", params),
        json!({ "elicitation": {} }),
    );
    site.http("web").with_all(headers).post(&request).message()
}

pub(crate) fn call(x: &Value) -> Value {
    json!({ "name": "run", "arguments": { "x": x } })
}

/// The call with the answer to the question of this response.
pub(crate) fn answer(x: &Value, asked: &Value) -> Value {
    let mut answer = call(x);
    answer["requestState"] = asked["result"]["requestState"].clone();
    answer["inputResponses"] = json!({ "ask.q": { "action": "accept", "content": {} } });
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_question_is_for_one_use_of_one_call() {
    let site = site().await;
    let x = json!("s3cret");
    let asked = ask(&site, call(&x));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(
        asked["result"]["_meta"]["mcp-servlet/done"],
        json!(["first"])
    );
    let requests = asked["result"]["inputRequests"].as_object();
    let keys: Vec<_> = requests.expect("requests").keys().collect();
    assert_eq!(keys, ["ask.q"]);
    assert!(!asked.to_string().contains("s3cret"), "{asked}");

    let other = ask(&site, answer(&json!("other"), &asked));
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let done = ask(&site, answer(&x, &asked));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let made = &done["result"]["structuredContent"]["x"];
    assert_eq!(made["params"]["arguments"]["x"], x, "{done}");
    assert_used(&ask(&site, answer(&x, &asked)));
}

/// Asserts that a call was refused because its answer was used.
pub(crate) fn assert_used(response: &Value) {
    let message = "this answer was used already; send the request again without `requestState`";
    assert_eq!(response["error"]["message"], message, "{response}");
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_with_the_same_keys_answer_each_others_questions() {
    log::start();
    let config = config(ASKS) + &server(&['A']);
    let (first, second) = (site_of(&config).await, site_of(&config).await);
    let x = json!("x");
    let asked = ask(&first, call(&x));
    for site in [&second, &first] {
        let done = ask(site, answer(&x, &asked));
        let made = &done["result"]["structuredContent"]["x"];
        assert_eq!(made["params"]["arguments"]["x"], x, "{done}");
        // Without a store, a process only knows what it has accepted itself.
        assert_used(&ask(site, answer(&x, &asked)));
    }
    log::says(
        "endpoint `web`: processes with the same `state_keys` do not know which answers the others have used, so tool \
         `run` may write twice for one answer",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_question_is_for_one_caller() {
    let key = |name: &str| {
        let sha256 = Sha256::of(name.as_bytes());
        format!("{{ name = \"{name}\", sha256 = \"{sha256}\" }}")
    };
    let (ann, bob) = (key("ann"), key("bob"));
    let auth = format!(
        "[auth.corp]\nresource = \"https://mcp.example/mcp\"\nkey = [{ann}, {bob}]\n{}",
        config(ASKS)
    );
    let config = auth.replace("[endpoint.web]", "[endpoint.web]\nauth = \"corp\"");
    let site = site_of(&config).await;
    let (ann, bob) = (
        [("authorization", "Bearer ann")],
        [("authorization", "Bearer bob")],
    );
    let x = json!("x");
    let asked = ask_as(&site, &ann, call(&x));
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let refused = ask_as(&site, &bob, answer(&x, &asked));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let done = ask_as(&site, &ann, answer(&x, &asked));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_tool_that_only_reads_can_be_used_again() {
    let reads = json!({ "name": "t", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
    let reads = json!({ "tools": [reads] }).to_string();
    let files = [
        ("a.wasm", &*asking_as(&reads)),
        ("e.wasm", &*echo_as(&reads)),
    ];
    let site = Site::start(&config(ASKS), &files).await;
    let x = json!("x");
    let asked = ask(&site, call(&x));
    for _ in 0..2 {
        let done = ask(&site, answer(&x, &asked));
        assert_eq!(done["result"]["resultType"], "complete", "{done}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_asks_at_most_sixteen_times() {
    let asking = Wat::new().describe(&describe(&["t"])).answer(&question());
    let files = [("a.wasm", &*asking.wasm()), ("e.wasm", &*echo(&["t"]))];
    let site = Site::start(&config(ASKS), &files).await;
    let x = json!("x");
    let mut response = ask(&site, call(&x));
    for _ in 0..16 {
        let kind = &response["result"]["resultType"];
        assert_eq!(kind, "input_required", "{response}");
        response = ask(&site, answer(&x, &response));
    }
    let error = &response["error"];
    assert_eq!(error["data"]["code"], "TOO_MANY_INPUT_REQUESTS", "{error}");
    let message = "tool `run` asked 16 times without returning a result";
    assert_eq!(error["message"], message, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_for_what_was_asked() {
    let site = site().await;
    let call = |item: &str| json!({ "name": "seen", "arguments": {}, "_meta": { "item": item } });
    let asked = ask(&site, call("old.txt"));
    let mut answer = call("everything");
    answer["requestState"] = asked["result"]["requestState"].clone();
    answer["inputResponses"] = json!({ "ask.q": { "action": "accept", "content": {} } });
    let done = ask(&site, answer);
    let made = &done["result"]["structuredContent"]["x"];
    assert_eq!(made["params"]["arguments"]["x"], "old.txt", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_tool_that_has_changed_is_void() {
    let site = site().await;
    let asked = ask(&site, call(&Value::Null));
    let changed = ASKS.replace("arguments = ", "description = \"changed\"\narguments = ");
    site.write("servlet.toml", config(&changed));
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    eventually("the change is served", async || {
        let all = definitions(&session).await;
        all.iter().any(|tool| tool["description"] == "changed")
    })
    .await;
    let found = ask(&site, answer(&Value::Null, &asked));
    let message = "the tool has changed since it asked; call it again";
    assert_eq!(found["error"]["message"], message, "{found}");
    assert_eq!(found["error"]["code"], -32602, "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_large_a_state_names_the_step() {
    let site = site().await;
    let found = ask(&site, call(&"x".repeat(300 << 10).into()));
    let error = &found["error"];
    let text = error["message"].as_str().expect("a message");
    assert!(text.starts_with("tool `run` cannot ask: the results of `first` (301 KiB) do not fit in the state of 256 KiB; read fewer members of them after `ask`"), "{text}");
    let data = &error["data"];
    assert_eq!(data["code"], "STATE_TOO_LARGE");
    assert_eq!(data["steps"]["first"], "done");
}

/// Agrees to everything.
struct Agreeing;

impl Answers for Agreeing {
    fn offers(&self) -> Offers {
        Offers {
            elicitation: true,
            ..Offers::default()
        }
    }

    fn elicit(&self, _: Elicitation) -> BoxFuture<'_, Input> {
        Box::pin(std::future::ready(Input::Accept(json!({}))))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_does_not_travel_may_be_large() {
    let site = site().await;
    let options = Options::new().answers(Agreeing);
    let session = site.connect_with(Way::HttpLegacy, "web", options).await;
    let x = "x".repeat(300 << 10);
    let called = session.call("run", json!({ "x": x })).await;
    let result = called.unwrap_or_else(|error| panic!("{error}"));
    let raw: Value = serde_json::from_str(result.raw.get()).expect("JSON");
    let made = &raw["structuredContent"]["x"]["params"]["arguments"]["x"];
    assert!(*made == x, "another result");
}

/// A tool that reads a resource and calls two tools.
const RULED: &str = r#"[servlet.a]
source = "a.wasm"
[servlet.b]
source = "b.wasm"
[bundle.ops.tool.run]
result = { content = [] }
step.one = { handler = "a:t" }
step.two = { handler = "b:t", each = "${{ [1, 2] }}", inputs = { x = "${{ item }}" } }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn rules_see_each_step() {
    let text = servlet(&["t"], "ok");
    let files = [("a.wasm", &*text), ("b.wasm", &*text)];
    let allow = "[[endpoint.ENDPOINT.rules]]\nallow = { tools = [\"*\"] }\n";
    for (rule, expected) in [
        ("", Some(true)),
        ("deny = { tools = [\"t\"] }\nmembers = [\"b\"]", None),
        (
            "deny = { tools = [\"t\"] }\nmembers = [\"b\"]\narguments = { \"x?\" = { const = 2 } }",
            Some(false),
        ),
    ] {
        let rules = |endpoint: &str| {
            let rule = match rule {
                "" => String::new(),
                rule => format!("[[endpoint.{endpoint}.rules]]\n{rule}\n"),
            };
            format!("{rule}{}", allow.replace("ENDPOINT", endpoint))
        };
        let config = format!("{WEB}{}{PIPE}{}{RULED}", rules("web"), rules("pipe"));
        let site = Site::start(&config, &files).await;
        for (way, endpoint) in WAYS.into_iter().filter(|(_, endpoint)| *endpoint != "old") {
            let session = site.connect(way, endpoint).await;
            let all = definitions(&session).await;
            let is_listed = all.iter().any(|tool| tool["name"] == "run");
            assert_eq!(is_listed, expected.is_some(), "{way:?} {rule}");
            let called = session.call("run", json!({})).await;
            match expected {
                None => assert_eq!(called.expect_err("unknown").code(), Some(-32602)),
                Some(is_allowed) => {
                    let result = called.expect("a result");
                    assert_eq!(!result.is_error, is_allowed, "{way:?} {rule}: {result:?}");
                    if !is_allowed {
                        let text = result.text();
                        assert!(
                            text.starts_with("step \"two\", item 2 of 2 failed (b:t):"),
                            "{text}"
                        );
                    }
                }
            }
        }
    }
}

/// A tool that reads a resource whose URI has a secret and a slash.
const READS: &str = r#"[servlet.f]
source = "f.wasm"
[bundle.ops.tool.run]
result = { content = [] }
step.read = { resource = "f:x://{name}", inputs = { name = "s3cret/x" } }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn rules_for_resources_see_the_resources_of_steps() {
    let allow = "[[endpoint.web.rules]]\nallow = { tools = [\"*\"] }\n";
    for (rule, is_allowed) in [
        // Only rules that name the member are about a step.
        ("deny = { resources = [\"x://*\"] }", true),
        (
            "deny = { resources = [\"y://*\"] }\nmembers = [\"f\"]",
            true,
        ),
        (
            "deny = { resources = [\"x://*/*\"] }\nmembers = [\"f\"]",
            false,
        ),
    ] {
        let rest = "[[endpoint.web.rules]]\nallow = { resources = [\"*\"] }\n";
        let config = format!("{WEB}[[endpoint.web.rules]]\n{rule}\n{rest}{allow}{READS}");
        let site = Site::start(&config, &[("f.wasm", &*echo_features())]).await;
        let (way, endpoint) = WAYS[0];
        let session = site.connect(way, endpoint).await;
        let result = session.call("run", json!({})).await.expect("a result");
        assert_eq!(!result.is_error, is_allowed, "{rule}: {result:?}");
        assert!(!result.raw.get().contains("s3cret"), "{rule}: {result:?}");
        if !is_allowed {
            let text = result.text();
            assert!(
                text.ends_with("the resource `x://{name}` cannot be read"),
                "{text}"
            );
        }
    }
}
