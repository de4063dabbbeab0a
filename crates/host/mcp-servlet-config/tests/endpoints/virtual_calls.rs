//! Virtual tools over handlers that hang, report progress, ask, or are cancelled, for clients of each transport.

use mcp_servlet_client::{Options, Session};
use puppet::eventually;
use serde_json::{Value, json};

use crate::{
    client::{Oslo, reported},
    site::{OLD, PIPE, Site, WAYS, WEB},
    support::Wat,
    wasm::{Reply, echo_after, replies},
};

/// Serves a servlet `f` with a bundle at an endpoint of each kind.
async fn site(wasm: &[u8], more: &str) -> Site {
    let config = format!("{WEB}{OLD}{PIPE}[servlet.f]\nsource = \"f.wasm\"\n{more}");
    Site::start(&config, &[("f.wasm", wasm)]).await
}

/// A servlet with two tools that do not end, and one that does.
fn hanging() -> Vec<u8> {
    let tools = ["hang", "capped", "fine"];
    let tools = tools.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    let fine = r#"{"content":[{"type":"text","text":"fine"}]}"#;
    let outputs = [
        (r#""hang""#, Reply::Hang),
        (r#""capped""#, Reply::Hang),
        (r#""fine""#, Reply::Output(fine)),
    ];
    replies(&json!(tools), &outputs)
}

/// A call that hangs would take the only instance from all others.
const HANGING: &str = r#"limits = { timeout = "60s", instances = { max = 1 } }
tool.capped.timeout = "300ms"
[bundle.ops.tool.slow]
handler = "f:hang"
timeout = "200ms"
[bundle.ops.tool.caught]
handler = "f:hang"
timeout = "200ms"
[[bundle.ops.tool.caught.catches]]
kind = "timeout"
code = "TIMEOUT"
error = { code = -32019, message = "too slow: ${{ error.code }}" }
[bundle.ops.tool.patient]
handler = "f:capped"
timeout = "1h"
[bundle.ops.tool.endless]
handler = "f:hang"
[bundle.ops.tool.done]
handler = "f:fine"
timeout = "30s"
"#;

/// Calls a tool that hangs, and then one that needs its instance.
async fn stopped(session: &Session, tool: &str) -> (i64, String) {
    let error = session.call(tool, json!({})).await.expect_err("no result");
    let done = session.call("done", json!({})).await.expect("a result");
    assert_eq!(done.text(), "fine");
    (error.code().expect("a code"), error.message().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_tool_has_a_time_limit_of_its_own() {
    let site = site(&hanging(), HANGING).await;
    let limit = |time: &str| format!("servlet `f` did not finish `call` within {time}");
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for (tool, expected) in [
            ("slow", (-32603, limit("200ms"))),
            ("caught", (-32019, "too slow: TIMEOUT".to_owned())),
            // The shorter limit of the handler applies.
            ("patient", (-32603, limit("300ms"))),
        ] {
            assert_eq!(stopped(&session, tool).await, expected, "{way:?} {tool}");
        }
        let error = session.call("slow", json!({})).await.expect_err("no time");
        let data = json!({ "servlet": "f", "export": "call" });
        assert_eq!(error.data(), Some(&data), "{way:?}");
    }
}

/// Two tools with an entry for all failures. Only the first has a shorter time limit than its endpoint.
const CATCHING: &str = r#"limits = { timeout = "60s", instances = { max = 1 } }
[bundle.ops.tool.quick]
handler = "f:hang"
timeout = "100ms"
[[bundle.ops.tool.quick.catches]]
error = { code = -32000, message = "caught" }
[bundle.ops.tool.endless]
handler = "f:hang"
[[bundle.ops.tool.endless.catches]]
error = { code = -32000, message = "caught" }
[bundle.ops.tool.done]
handler = "f:fine"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_time_limit_of_an_endpoint_cannot_be_caught() {
    let time = "timeout = \"1s\"\n";
    let endpoints = format!("{WEB}{time}{OLD}{time}{PIPE}{time}");
    let config = format!("{endpoints}[servlet.f]\nsource = \"f.wasm\"\n{CATCHING}");
    let site = Site::start(&config, &[("f.wasm", &hanging())]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let caught = stopped(&session, "quick").await;
        assert_eq!(caught, (-32000, "caught".to_owned()), "{way:?}");
        let error = session.call("endless", json!({})).await;
        let error = error.expect_err("the time is over");
        assert_eq!(error.code(), Some(-32603), "{way:?}: {error}");
        assert_eq!(error.data(), Some(&json!({ "timeout": 1.0 })), "{way:?}");
        // The handler was interrupted: its only instance is free.
        let done = session.call("done", json!({})).await.expect("a result");
        assert_eq!(done.text(), "fine", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_a_virtual_tool_stops_its_handler() {
    let site = site(&hanging(), HANGING).await;
    let running = |count: usize| {
        let metrics = site.service.metrics();
        metrics.contains(&format!("servlet_calls_running {count}\n"))
    };
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        {
            let call = session.call("endless", json!({}));
            let begun = eventually("the call runs", async || running(1));
            tokio::select! {
                ended = call => panic!("{way:?}: {ended:?}"),
                () = begun => {}
            }
        }
        eventually("the call has ended", async || running(0)).await;
        let done = session.call("done", json!({})).await.expect("a result");
        assert_eq!(done.text(), "fine", "{way:?}");
    }
}

/// The description of a servlet with a tool that takes two arguments.
fn described() -> String {
    let properties = json!({ "units": { "type": "string" }, "place": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "tools": [{ "name": "t", "inputSchema": schema }] }).to_string()
}

/// A servlet that logs and reports its progress. The server passes on only the report with the client's own token.
pub(crate) fn reporting() -> Vec<u8> {
    let imports = r#"(import "extism:host/user" "notify_progress" (func $progress (param i64)))
        (import "extism:host/user" "notify_logging_message" (func $log (param i64)))"#;
    let log = json!({ "level": "warning", "logger": "f", "data": { "at": 1 } }).to_string();
    let reports = (0..32).map(|token| {
        json!({ "progressToken": token, "progress": 1, "total": 2, "message": "half" }).to_string()
    });
    let sent = std::iter::once(("log", log)).chain(reports.map(|report| ("progress", report)));
    let mut texts = String::new();
    let body = sent.map(|(function, text)| {
        let (from, length) = (texts.len(), text.len());
        texts += &text;
        format!("(call ${function} (call $block (i32.const {from}) (i32.const {length})))")
    });
    let body: String = body.collect();
    let wat = Wat::new().import(imports).text(&texts);
    let answer = r#"{"content":[{"type":"text","text":"done"}]}"#;
    wat.describe(&described())
        .export(
            "call",
            answer,
            &format!("{body} (call $output {{}}) (i32.const 0)"),
        )
        .wasm()
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_log_messages_of_a_handler_reach_the_client() {
    let bundle = "[bundle.ops.tool.run]\nhandler = \"f:t\"\ninputs = { units = \"metric\" }\n\
        result = { content = [{ type = \"text\", text = \"mapped\" }] }\n";
    let site = site(&reporting(), bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let text = reported(&session, ("run", json!({})), "f", &format!("{way:?}")).await;
        assert_eq!(text, "mapped", "{way:?}");
    }
}

/// A servlet that asks, and then returns its request.
fn asking() -> Vec<u8> {
    let city = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let params = json!({ "mode": "form", "message": "Which city?", "requestedSchema": city });
    let asks = json!({
        "resultType": "input_required",
        "inputRequests": { "q": { "method": "elicitation/create", "params": params } },
        "requestState": "s1",
    });
    echo_after(&asks.to_string(), &described())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_handler_reaches_the_client_and_the_answer_the_handler() {
    let bundle = r#"limits = { isolation = "shared", instances = { max = 1 } }
[bundle.ops.tool.ask]
handler = "f:t"
inputs = { units = "metric", place = "${{ request.arguments.place }}" }
arguments = { type = "object", properties = { place = { type = "string" } }, required = ["place"] }
[bundle.ops.tool.ask.result]
content = []
structuredContent = { request = "${{ result.structuredContent }}" }
"#;
    let site = site(&asking(), bundle).await;
    for (way, endpoint) in WAYS {
        let options = Options::new().answers(Oslo);
        let session = site.connect_with(way, endpoint, options).await;
        let called = session.call("ask", json!({ "place": "here" })).await;
        let called = called.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let raw: Value = serde_json::from_str(called.raw.get()).expect("JSON");
        let params = &raw["structuredContent"]["request"]["params"];
        let inputs = json!({ "units": "metric", "place": "here" });
        assert_eq!(params["arguments"], inputs, "{way:?}: {raw}");
        let answer = json!({ "action": "accept", "content": { "city": "Oslo" } });
        assert_eq!(params["inputResponses"], json!({ "q": answer }), "{way:?}");
        assert_eq!(params["requestState"], "s1", "{way:?}: {raw}");
    }
}
