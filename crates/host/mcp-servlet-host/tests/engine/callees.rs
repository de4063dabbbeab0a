//! Servlets that call tools and read resources of others.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::join_all;
use mcp_servlet_call::{
    CallErrorKind, Callee, CalleeError, JsonObject, Limit, Listener, Notification, RequestMeta,
    Sending,
};
use mcp_servlet_host::{CallToolResult, Host, Recorder, Servlet};
use mcp_servlet_runtime::{Grant, Instances, Isolation, LoadOptions, Source, block_on};
use puppet::PATIENCE;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    SPIN,
    support::{
        DESCRIPTION, Wat,
        caller::{ASK, START, caller, caller_that, callers, calling, to_call, to_read},
    },
};

fn text(text: &str) -> String {
    json!({ "content": [{ "type": "text", "text": text }] }).to_string()
}

/// A servlet of this name.
fn named(name: &str, wat: &Wat, options: &LoadOptions) -> Servlet {
    let source = Source::Bytes {
        name: name.to_owned(),
        wasm: wat.wasm(),
    };
    Servlet::load(source, options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A servlet `planner` that may make some calls.
fn planner(wat: &Wat, grants: &[&str]) -> Servlet {
    named("planner", wat, &granted(grants))
}

fn granted(grants: &[&str]) -> LoadOptions {
    let grants = grants.iter().map(|grant| grant.parse::<Grant>());
    let grants: Vec<_> = grants.collect::<Result<_, _>>().expect("grants");
    let mut options = LoadOptions::default();
    options.allowed_tools.clone_from(&grants);
    options.allowed_resources = grants;
    options
}

/// A servlet whose calls share one instance, so that its answers can depend on how many there were.
fn counting(name: &str, answers: &[&str]) -> Servlet {
    let mut options = LoadOptions::default();
    options.instances = Instances::ONE.into();
    options.isolation = Some(Isolation::Shared);
    let wat = Wat::new().describe(DESCRIPTION).answers(answers);
    named(name, &wat, &options)
}

fn simple(name: &str, answer: &str) -> Servlet {
    let wat = Wat::new().describe(DESCRIPTION).answer(answer);
    named(name, &wat, &LoadOptions::default())
}

async fn call(host: &Host, request_meta: &RequestMeta) -> CallToolResult {
    let name = host.tools().next().expect("a tool").name().to_owned();
    let result = timeout(PATIENCE, host.call_with(&name, None, request_meta)).await;
    result
        .expect("in time")
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The answers to the requests of the first servlet.
async fn answers(servlets: Vec<Servlet>) -> Vec<Value> {
    let host = host(servlets);
    answers_in(&call(&host, &RequestMeta::default()).await)
}

fn answers_in(result: &CallToolResult) -> Vec<Value> {
    let content = result.structured_content().expect("answers");
    let answers = content["answers"].as_array().expect("a list");
    answers[1..].to_vec()
}

/// A host that lists the first servlet as `t`.
fn host(servlets: Vec<Servlet>) -> Host {
    Host::new(servlets)
}

fn error(answer: &Value) -> (&str, &str) {
    let error = &answer["error"];
    let part = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{answer}"));
    (part("kind"), part("message"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_gets_results_as_the_member_wrote_them() {
    let failed = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
    let requests = [
        to_call("weather:t"),
        to_call("broken:t"),
        to_read("docs", "docs://a"),
    ];
    let docs = Wat::new()
        .describe(r#"{"tools":[]}"#)
        .export(
            "read_resource",
            r#"{"contents":[{"uri":"docs://a","text":"A"}]}"#,
            "(call $output {}) (i32.const 0)",
        )
        .answer("{}");
    let servlets = vec![
        planner(
            &caller(&requests, ""),
            &["weather:t", "broken:*", "docs:docs://*"],
        ),
        simple("weather", &text("sunny")),
        simple("broken", &failed.to_string()),
        named("docs", &docs, &LoadOptions::default()),
    ];
    let answers = answers(servlets).await;
    assert_eq!(answers[0]["result"]["content"][0]["text"], "sunny");
    assert_eq!(answers[1], json!({ "result": failed }));
    assert_eq!(answers[2]["result"]["contents"][0]["text"], "A");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_learns_that_a_value_is_wrapped() {
    let schema =
        json!({ "type": "object", "properties": { "result": {} }, "x-fastmcp-wrap-result": true });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
    let count = Wat::new()
        .describe(&json!({ "tools": [tool] }).to_string())
        .answer(r#"{"content":[],"structuredContent":{"result":3},"_meta":{"a":1}}"#);
    let servlets = vec![
        planner(&caller(&[to_call("count:t")], ""), &["count:t"]),
        named("count", &count, &LoadOptions::default()),
    ];
    let meta = &answers(servlets).await[0]["result"]["_meta"];
    assert_eq!(*meta, json!({ "a": 1, "fastmcp": { "wrap_result": true } }));
}

/// The errors that the planner gets, by their requests.
async fn errors_of(
    requests: &[Value],
    grants: &[&str],
    others: Vec<Servlet>,
) -> Vec<(String, String)> {
    let mut servlets = vec![planner(&caller(requests, ""), grants)];
    servlets.extend(others);
    let answers = answers(servlets).await;
    let errors = answers.iter().map(error);
    errors
        .map(|(kind, message)| (kind.to_owned(), message.to_owned()))
        .collect()
}

fn expected(errors: &[(&str, &str)]) -> Vec<(String, String)> {
    let errors = errors.iter();
    errors
        .map(|(kind, message)| ((*kind).to_owned(), (*message).to_owned()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_not_allowed_or_names_nothing_says_why() {
    let requests = [
        to_call("weather:other"),
        to_call("weather"),
        to_call("wether:t"),
        to_call("weather:tt"),
        to_call("planner:t"),
        to_read("docs", "docs://a"),
        to_read("weather", "docs://a"),
    ];
    let grants = ["weather:t*", "weather:docs:*", "wether:t", "planner:t"];
    let weather = vec![simple("weather", &text("sunny"))];
    let found = errors_of(&requests, &grants, weather).await;
    let expected = expected(&[
        (
            "not_allowed",
            "servlet `planner` may not call `weather:other`: the operator must allow it with `allow.tools` or `--allow-tool weather:other`",
        ),
        (
            "unknown",
            "`weather` has no colon; write the name of a servlet or remote, a colon, and its tool",
        ),
        (
            "unknown",
            "there is no servlet or remote `wether`; there is `weather`",
        ),
        (
            "unknown",
            "servlet `weather` has no tool `tt`; there is `t`",
        ),
        (
            "not_allowed",
            "servlet `planner` cannot call its own tools: call the function",
        ),
        (
            "not_allowed",
            "servlet `planner` may not read `docs:docs://a`: the operator must allow it with `allow.resources` or `--allow-resource docs:docs://a`",
        ),
        ("unknown", "resource not found: docs://a"),
    ]);
    assert_eq!(found, expected);
}

/// A servlet of this name whose calls run this, and what changes its options.
fn running(name: &str, text: &str, body: &str, change: impl FnOnce(&mut LoadOptions)) -> Servlet {
    let mut options = LoadOptions::default();
    change(&mut options);
    let wat = Wat::new().describe(DESCRIPTION);
    named(name, &wat.export("call", text, body), &options)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_fails_has_the_kind_and_the_text_of_the_failure() {
    let spin = format!("{SPIN} unreachable");
    let grow = "(loop $l (drop (memory.grow (i32.const 16))) (br $l)) unreachable";
    let output = "(call $output {}) (i32.const 0)";
    let others = vec![
        running("slow", "", &spin, |options| {
            options.limits.timeout = Limit::At(Duration::from_millis(50));
        }),
        running("traps", "", "unreachable", |_| {}),
        running("panics", "no", "(call $error {}) unreachable", |_| {}),
        running("fails", "no", "(call $error {}) (i32.const 1)", |_| {}),
        running("grows", "", grow, |options| {
            options.limits.memory = Limit::At(4 << 20);
        }),
        running("loops", "", &spin, |options| {
            options.limits.fuel = Limit::At(1_000_000);
        }),
        running("talks", &text(&"a".repeat(1000)), output, |options| {
            options.limits.output = Limit::At(1000);
        }),
        running("lies", r#"{"content":{}}"#, output, |_| {}),
    ];
    let calls = others
        .iter()
        .map(|other| to_call(&format!("{}:t", other.name())));
    let grants: Vec<_> = others
        .iter()
        .map(|other| format!("{}:t", other.name()))
        .collect();
    let grants: Vec<_> = grants.iter().map(String::as_str).collect();
    let requests: Vec<_> = calls.collect();
    let found = errors_of(&requests, &grants, others).await;
    let expected = expected(&[
        (
            "timeout",
            "servlet `slow` did not finish `call` within 50ms",
        ),
        (
            "trap",
            "servlet `traps` trapped in `call`: wasm trap: wasm `unreachable` instruction executed",
        ),
        ("panic", "servlet `panics` stopped in `call`: no"),
        ("fault", "no"),
        (
            "out_of_memory",
            "servlet `grows` ran out of memory in `call`: the limit is 4194304 bytes",
        ),
        (
            "out_of_fuel",
            "servlet `loops` ran out of fuel in `call`: the limit is 1000000",
        ),
        (
            "output_too_large",
            "servlet `talks` returned 1039 bytes from `call`; the limit is 1000",
        ),
        (
            "bad_output",
            "servlet `lies` returned an invalid result: output of `call`, /content: expected an array, found an object",
        ),
    ]);
    assert_eq!(found, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callee_whose_instances_are_taken_is_busy() {
    let spin = format!("{SPIN} unreachable");
    let weather = running("weather", "", &spin, |options| {
        options.instances = Instances::ONE.into();
        options.wait = Some(Duration::from_millis(50));
        options.limits.timeout = Limit::Unlimited;
    });
    let planner = planner(&caller(&[to_call("weather:t")], ""), &["weather:t"]);
    let host = host(vec![planner, weather]);
    let mut taken = Box::pin(host.servlets()[1].call("t", None));
    let ended = timeout(Duration::from_millis(1), &mut taken).await;
    ended.expect_err("it spins");
    let answers = answers_in(&call(&host, &RequestMeta::default()).await);
    let expected = "servlet `weather` is busy: no instance became free within 50ms";
    assert_eq!(error(&answers[0]), ("busy", expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_another_form_is_an_error() {
    let requests = [
        json!({ "method": "tools/list" }),
        json!({ "method": "tools/call", "params": { "name": "weather:t", "arguments": [] } }),
    ];
    for (kind, message) in errors_of(&requests, &["weather:t"], Vec::new()).await {
        assert_eq!(kind, "arguments");
        let expected = "`call_tool` expects a request `tools/call` or `resources/read`: ";
        assert!(message.starts_with(expected), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_limits() {
    for (commas, expected) in [
        (
            1_048_577,
            "expected at most 1048576 bytes of JSON, found 1048577",
        ),
        (
            150_000,
            "expected at most 100000 values of JSON, found 150001",
        ),
    ] {
        let request = format!(
            "(func $commas (result i64) (local $block i64) (local $at i64)
                (local.set $block (call $alloc (i64.const {commas})))
                (loop $next
                    (call $store (i64.add (local.get $block) (local.get $at)) (i32.const 0x2c))
                    (local.set $at (i64.add (local.get $at) (i64.const 1)))
                    (br_if $next (i64.lt_u (local.get $at) (i64.const {commas}))))
                (local.get $block))"
        );
        let call = [(
            "call",
            r#"{"content":[],"structuredContent":{"answers":[null,"#,
            "]}}",
        )];
        let wat = calling(Wat::new().describe(DESCRIPTION), "(call $commas)", &call);
        let answers = answers(vec![planner(&wat.after(&request), &[])]).await;
        assert_eq!(error(&answers[0]), ("arguments", expected));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_request_that_is_no_json_stops_the_servlet() {
    let request = "(drop (call $call_tool (call $block (i32.const 0) (i32.const 5))))";
    let host = host(vec![planner(&caller(&[], request), &["weather:t"])]);
    let error = host.call("t", None).await.expect_err("no JSON");
    assert!(matches!(error.kind, CallErrorKind::Trap { .. }), "{error}");
    assert!(
        error.to_string().contains("`call_tool` expects JSON: "),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_before_the_call() {
    let description = json!({ "tools": [{ "name": "t", "description": "d", "inputSchema": {
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
    } }] });
    let weather = Wat::new()
        .describe(&description.to_string())
        .answer(&text("sunny"));
    let servlets = vec![
        planner(&caller(&[to_call("weather:t")], ""), &["weather:t"]),
        named("weather", &weather, &LoadOptions::default()),
    ];
    let answers = answers(servlets).await;
    let (kind, message) = error(&answers[0]);
    assert_eq!(kind, "arguments");
    assert!(message.contains("city"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_possible_only_while_a_call_is_answered() {
    let wat = caller(&[to_call("weather:t")], "");
    let planner = planner(&wat, &["weather:t"]);
    let host = host(vec![planner, simple("weather", &text("sunny"))]);
    // Without its host, the servlet has nobody to call.
    let alone = host.servlets()[0].call("t", None).await.expect("a result");
    let answers = answers_in(&alone);
    let expected = "servlet `planner` may call tools only while it answers a call";
    assert_eq!(error(&answers[0]), ("not_allowed", expected));
    // A host passes them on without a runtime as well.
    let result = block_on(host.call("t", None)).expect("a result");
    assert_eq!(
        answers_in(&result)[0]["result"]["content"][0]["text"],
        "sunny"
    );
}

/// Exports, and what their outputs have before and after an answer.
const EXPORTS: [(&str, &str, &str); 8] = [
    (
        "describe",
        r#"{"tools":[{"name":"t","inputSchema":{"type":"object"},"_meta":{"answer":"#,
        "}}]}",
    ),
    (
        "list_resources",
        r#"{"resources":[{"uri":"x:1","name":"x","_meta":{"answer":"#,
        "}}]}",
    ),
    (
        "list_resource_templates",
        r#"{"resourceTemplates":[{"uriTemplate":"y:{z}","name":"y","_meta":{"answer":"#,
        "}}]}",
    ),
    (
        "list_prompts",
        r#"{"prompts":[{"name":"p","_meta":{"answer":"#,
        "}}]}",
    ),
    (
        "complete",
        r#"{"completion":{"values":[]},"_meta":{"answer":"#,
        "}}",
    ),
    ("call", r#"{"content":[],"_meta":{"answer":"#, "}}"),
    ("get_prompt", r#"{"messages":[],"_meta":{"answer":"#, "}}"),
    (
        "read_resource",
        r#"{"contents":[{"uri":"x:1","text":"x"}],"_meta":{"answer":"#,
        "}}",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_lists_and_completions_call_nothing() {
    let wat = callers(&to_call("weather:t"), &EXPORTS);
    let planner = planner(&wat, &["weather:t"]);
    let host = host(vec![planner, simple("weather", &text("sunny"))]);
    let servlet = &host.servlets()[0];
    let prompt = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    let completed = host.complete(prompt.as_object().expect("an object")).await;
    let completed = completed.expect("suggestions");
    for refused in [
        servlet.tools()[0].json(),
        servlet.resources()[0].json(),
        servlet.resource_templates()[0].json(),
        servlet.prompts()[0].json(),
        completed.json(),
    ] {
        let expected = "servlet `planner` may call tools only while it answers a call";
        assert_eq!(
            error(&refused["_meta"]["answer"]),
            ("not_allowed", expected)
        );
    }
    let request_meta = RequestMeta::default();
    let called = call(&host, &request_meta).await;
    let prompt = host.get_prompt_with("p", None, &request_meta).await;
    let prompt = prompt.expect("a prompt");
    let read = host.read_resource_with("x:1", &request_meta).await;
    let read = read.expect("contents");
    for allowed in [called.json(), prompt.json(), read.json()] {
        let result = &allowed["_meta"]["answer"]["result"];
        assert_eq!(result["content"][0]["text"], "sunny", "{allowed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_cannot_come_back_to_its_servlet() {
    let to_a = named("b", &caller(&[to_call("a:t")], ""), &granted(&["a:t"]));
    let to_b = named("a", &caller(&[to_call("b:t")], ""), &granted(&["b:t"]));
    let answers = answers(vec![to_b, to_a]).await;
    let inner = &answers[0]["result"]["structuredContent"]["answers"][1];
    let expected = "servlet `b` may not call `a:t`: this call came through servlet `a`, so they could call each other for ever";
    assert_eq!(error(inner), ("not_allowed", expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_their_results_are_bounded() {
    let requests = vec![to_call("weather:t"); 101];
    let servlets = vec![
        planner(&caller(&requests, ""), &["weather:t"]),
        simple("weather", &text("sunny")),
    ];
    let all = answers(servlets).await;
    assert!(
        all[..100]
            .iter()
            .all(|answer| answer.get("result").is_some())
    );
    let expected = "servlet `planner` has made 100 calls already";
    assert_eq!(error(&all[100]), ("too_many", expected));

    let mut options = LoadOptions::default();
    options.limits.output = Limit::Unlimited;
    // 9 MiB of `a`.
    let (begin, end) = (r#"{"content":[{"type":"text","text":""#, r#""}]}"#);
    let body = format!(
        "(drop (memory.grow (i32.const 200)))
        (memory.fill (i32.const {START}) (i32.const 97) (i32.const {size}))
        (memory.copy (i32.const {START}) (i32.const {from}) (i32.const {length}))
        (memory.copy (i32.const {last}) (i32.const {of_end}) (i32.const {length_of_end}))
        (call $output (i32.const {START}) (i32.const {size})) (i32.const 0)",
        size = 9 << 20,
        from = DESCRIPTION.len(),
        length = begin.len(),
        last = START + (9 << 20) - end.len(),
        of_end = DESCRIPTION.len() + begin.len(),
        length_of_end = end.len(),
    );
    let large = Wat::new()
        .describe(DESCRIPTION)
        .text(begin)
        .text(end)
        .export("call", "", &body);
    let servlets = vec![
        planner(&caller(&[to_call("large:t")], ""), &["large:t"]),
        named("large", &large, &options),
    ];
    let expected = "the result of `large:t` has 10 MiB; servlet `planner` takes 8 MiB";
    assert_eq!(error(&answers(servlets).await[0]), ("too_large", expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_caller_waits_for_ever() {
    let mut options = granted(&["weather:t"]);
    options.instances = Instances {
        min: 0,
        max: 4,
        idle: None,
    }
    .into();
    options.wait = None;
    let planner = named("planner", &caller(&[to_call("weather:t")], ""), &options);
    options.allowed_tools.clear();
    let wat = Wat::new().describe(DESCRIPTION).answer(&text("sunny"));
    let weather = named("weather", &wat, &options);
    let host = Arc::new(host(vec![planner, weather]));
    let calls = (0..1000).map(|_| {
        let host = Arc::clone(&host);
        tokio::spawn(async move { call(&host, &RequestMeta::default()).await })
    });
    for result in join_all(calls).await {
        let answers = answers_in(&result.expect("no panic"));
        assert_eq!(answers[0]["result"]["content"][0]["text"], "sunny");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_stops_what_it_calls() {
    let mut options = LoadOptions::default();
    options.instances = Instances::ONE.into();
    options.limits.timeout = Limit::Unlimited;
    let spin = Wat::new().describe(DESCRIPTION).export(
        "call",
        &text("ok"),
        &format!("(if (i64.gt_u (call $input_length) (i64.const 40)) (then {SPIN})) (call $output {{}}) (i32.const 0)"),
    );
    let mut request = to_call("slow:t");
    request["params"]["arguments"] = json!({ "padding": "that makes the callee spin" });
    let slow = Arc::new(named("slow", &spin, &options));
    let planner = planner(&caller(&[request], ""), &["slow:t"]);
    let mounts = [Arc::new(planner), Arc::clone(&slow)].map(|servlet| mcp_servlet_host::Mount {
        member: servlet.into(),
        prefix: mcp_servlet_host::Prefix::Name(None),
        filter: mcp_servlet_host::Filter::default(),
    });
    let host = Host::compose(mounts.into());
    let name = host.tools().next().expect("a tool").name();
    let request_meta = RequestMeta::default();
    let outer = host.call_with(name, None, &request_meta);
    timeout(Duration::from_millis(200), outer)
        .await
        .expect_err("it spins");
    // Its only instance is free again.
    let result = timeout(PATIENCE, slow.call("t", None)).await;
    assert_eq!(result.expect("in time").expect("a result").text(), "ok");
}

/// The next request, with these responses.
fn answered(asked: &CallToolResult, responses: &Value) -> RequestMeta {
    let state = asked.json()["requestState"].as_str().expect("a state");
    let mut request_meta = RequestMeta::default();
    request_meta.request_state = Some(state.to_owned());
    request_meta.input_responses = responses.as_object().cloned();
    request_meta
}

fn keys(asked: &CallToolResult) -> Vec<&str> {
    let requests = asked.json()["inputRequests"].as_object().expect("requests");
    requests.keys().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_have_ended_are_not_made_again_when_one_asks() {
    let requests = [to_call("notes:t"), to_call("asks:t"), to_call("notes:t")];
    let host = host(vec![
        planner(&caller(&requests, ""), &["notes:t", "asks:t"]),
        counting("notes", &[&text("first"), &text("second"), &text("third")]),
        counting("asks", &[ASK, &text("answered")]),
    ]);
    let asked = call(&host, &RequestMeta::default()).await;
    assert_eq!(keys(&asked), ["asks:t.k"]);
    let responses = json!({ "asks:t.k": { "roots": [] } });
    let result = call(&host, &answered(&asked, &responses)).await;
    let texts: Vec<_> = answers_in(&result);
    let texts: Vec<_> = texts
        .iter()
        .map(|one| &one["result"]["content"][0]["text"])
        .collect();
    assert_eq!(texts, ["first", "answered", "second"]);
}

#[derive(Debug, Default)]
struct Recorded(Mutex<Vec<(String, Option<JsonObject>)>>);

impl Recorder for Recorded {
    fn ended(&self, callee: &Callee, outcome: &Result<JsonObject, CalleeError>) {
        let ended = (callee.to_string(), outcome.clone().ok());
        self.0.lock().expect("no panic").push(ended);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_learns_of_each_call_once_even_if_one_asks() {
    let requests = [to_call("notes:t"), to_call("asks:t"), to_call("gone:t")];
    let recorded = Arc::new(Recorded::default());
    let host = host(vec![
        planner(&caller(&requests, ""), &["notes:t", "asks:t", "gone:t"]),
        simple("notes", &text("noted")),
        counting("asks", &[ASK, &text("answered")]),
    ]);
    let host = host.with_recorder(Arc::clone(&recorded) as _).relisted();
    let asked = call(&host, &RequestMeta::default()).await;
    assert_eq!(recorded.0.lock().expect("no panic").len(), 1);
    let responses = json!({ "asks:t.k": { "roots": [] } });
    call(&host, &answered(&asked, &responses)).await;
    let recorded = recorded.0.lock().expect("no panic");
    let texts: Vec<_> = recorded
        .iter()
        .map(|(name, result)| {
            let result = json!(result);
            let text = result["content"][0]["text"].as_str();
            (&**name, text.map(str::to_owned))
        })
        .collect();
    let expected = [
        ("notes:t", Some("noted".to_owned())),
        ("asks:t", Some("answered".to_owned())),
        ("gone:t", None),
    ];
    assert_eq!(texts, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_have_ended_are_not_made_again_when_the_servlet_itself_asks() {
    let ask = "(if (i32.eq (global.get $calls) (i32.const 1))
        (then (call $output {}) (return (i32.const 0))))";
    let mut options = granted(&["notes:t"]);
    options.instances = Instances::ONE.into();
    options.isolation = Some(Isolation::Shared);
    let wat = caller_that(&[to_call("notes:t")], "", ask);
    let host = host(vec![
        named("planner", &wat, &options),
        counting("notes", &[&text("first"), &text("second")]),
    ]);
    let asked = call(&host, &RequestMeta::default()).await;
    assert_eq!(keys(&asked), ["k"]);
    let responses = json!({ "k": { "roots": [] } });
    let result = call(&host, &answered(&asked, &responses)).await;
    assert_eq!(
        answers_in(&result)[0]["result"]["content"][0]["text"],
        "first"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn too_large_a_state_names_the_call() {
    let long = text(&"a".repeat(300 << 10));
    let requests = [to_call("long:t"), to_call("asks:t")];
    let host = host(vec![
        planner(&caller(&requests, ""), &["long:t", "asks:t"]),
        long_answer(&long),
        counting("asks", &[ASK]),
    ]);
    let error = host.call("t", None).await.expect_err("too large");
    assert_eq!(
        error.to_string(),
        "servlet `planner` cannot ask: the results of its calls do not fit in the state of 256 KiB; the largest is that of `long:t` (300 KiB)"
    );
}

/// A servlet with an answer that does not fit in the constants of a test module.
fn long_answer(answer: &str) -> Servlet {
    let wat = format!(
        r#"(module
            (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
            (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
            (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
            (memory (export "memory") 16)
            (data (i32.const 0) {answer:?})
            (data (i32.const 900000) {DESCRIPTION:?})
            (func $output (param $from i32) (param $length i32) (result i32)
                (local $to i64) (local $i i32)
                (local.set $to (call $alloc (i64.extend_i32_u (local.get $length))))
                (block $done (loop $next
                    (br_if $done (i32.ge_u (local.get $i) (local.get $length)))
                    (call $store (i64.add (local.get $to) (i64.extend_i32_u (local.get $i)))
                        (i32.load8_u (i32.add (local.get $from) (local.get $i))))
                    (local.set $i (i32.add (local.get $i) (i32.const 1)))
                    (br $next)))
                (call $output_set (local.get $to) (i64.extend_i32_u (local.get $length)))
                (i32.const 0))
            (func (export "describe") (result i32)
                (call $output (i32.const 900000) (i32.const {})))
            (func (export "call") (result i32) (call $output (i32.const 0) (i32.const {}))))"#,
        DESCRIPTION.len(),
        answer.len()
    );
    let source = Source::Bytes {
        name: "long".to_owned(),
        wasm: wat::parse_str(&wat).expect("valid text"),
    };
    Servlet::load(source, &LoadOptions::default()).expect("a servlet")
}

/// Collects the progress that a client would get.
#[derive(Debug, Default)]
struct Reports(Mutex<Vec<Value>>);

impl Listener for Reports {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        if let Notification::Progress(params) = notification {
            self.0.lock().expect("no panic").push(params.into());
        }
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_progress_of_what_a_servlet_calls_is_its_own_unless_it_reports_some_itself() {
    let notify = r#"(import "extism:host/user" "notify_progress" (func $progress (param i64)))"#;
    let progress = json!({ "progressToken": "p", "progress": 7, "total": 9, "message": "half" });
    let progress = progress.to_string();
    let body = format!(
        "(call $progress (call $block (i32.const {}) (i32.const {}))) (call $output {{}}) (i32.const 0)",
        DESCRIPTION.len(),
        progress.len()
    );
    let works = Wat::new()
        .describe(DESCRIPTION)
        .import(notify)
        .text(&progress)
        .export("call", &text("ok"), &body);
    let own = format!(
        "(call $progress (call $block (i32.const 0) (i32.const {})))",
        DESCRIPTION.len()
    );
    let requests = [to_call("works:t"), to_call("works:t")];
    let report =
        |count: u32| json!({ "progressToken": "p", "progress": count, "message": "works:t: half" });
    let description: Value = serde_json::from_str(DESCRIPTION).expect("JSON");
    for (body, expected) in [
        ("", vec![report(1), report(2)]),
        // Its own report, and none of its calls.
        (&*own, vec![description]),
    ] {
        let planner = planner(&caller(&requests, body).import(notify), &["works:t"]);
        let host = host(vec![
            planner,
            named("works", &works, &LoadOptions::default()),
        ]);
        let reports = Arc::new(Reports::default());
        let mut request_meta = RequestMeta::default();
        request_meta.listener = Some(Arc::clone(&reports) as Arc<dyn Listener>);
        request_meta.meta = json!({ "progressToken": "p" }).as_object().cloned();
        call(&host, &request_meta).await;
        assert_eq!(*reports.0.lock().expect("no panic"), expected);
    }
}
