//! Tools with steps over remotes, as clients of each transport see them.

use mcp_servlet_client::{CallResult, Error, Event, Options, Session};
use puppet::{PATIENCE, Puppet, eventually};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    asks::Refusing,
    client::{Oslo, with_reports},
    site::{OLD, PIPE, Site, WAYS, WEB, definitions},
    support::{script, with_calls},
    unanswered::Silent,
    virtual_tools::{error, remote},
};

/// A server with these tools and a resource, whose calls all get this reply.
fn server(tools: Value, call: Value) -> Puppet {
    let text = json!({ "uri": "$params/uri", "text": "be polite" });
    script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {}, "resources": {}, "logging": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": tools } }],
            "tools/call": [call],
            "resources/list": [{ "result": { "resources": [] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [] } }],
            "resources/read": [{ "result": { "contents": [text] } }],
        },
    }))
}

/// A tool that takes any arguments.
fn tool(name: &str, is_read_only: bool) -> Value {
    json!({ "name": name, "annotations": { "readOnlyHint": is_read_only }, "inputSchema": { "type": "object", "properties": { "x": {} } } })
}

/// A server with a tool `t` that only reads, and a tool `w` that may change something.
pub(crate) fn plain(call: Value) -> Puppet {
    server(json!([tool("t", true), tool("w", false)]), call)
}

/// The reply that has these data.
pub(crate) fn data(data: Value) -> Value {
    json!({ "result": { "content": [], "structuredContent": data } })
}

fn text(text: &str) -> Value {
    json!({ "result": { "content": [{ "type": "text", "text": text }] } })
}

fn failure(text: &str) -> Value {
    json!({ "result": { "content": [{ "type": "text", "text": text }], "isError": true } })
}

/// A reply that does not come.
pub(crate) fn never() -> Value {
    json!({ "wait_ms": 600_000, "result": { "content": [] } })
}

async fn site(remotes: &[(&str, &Puppet)], bundle: &str) -> Site {
    site_with("", remotes, bundle).await
}

/// The same, with these keys in each endpoint.
async fn site_with(keys: &str, remotes: &[(&str, &Puppet)], bundle: &str) -> Site {
    let mut config = format!("{WEB}{keys}{OLD}{keys}{PIPE}{keys}");
    for (name, puppet) in remotes {
        config += &remote(name, puppet, "").await;
    }
    Site::start(&format!("{config}{bundle}"), &[]).await
}

fn structured(result: &CallResult) -> Value {
    let structured = result.structured.as_ref().expect("structured content");
    serde_json::from_str(structured.get()).expect("JSON")
}

const TRAVEL: &str = r#"
[bundle.travel.tool.plan]
description = "Flights and hotels for a trip."
[bundle.travel.tool.plan.step.flights]
handler = "air:search_flights"
inputs = { to = "${{ request.arguments.to }}" }
[bundle.travel.tool.plan.step.hotels]
handler = "stay:t"
inputs = { x = "${{ request.arguments.to }}" }
may_fail = true
[bundle.travel.tool.plan.step.rules]
resource = "stay:rules://{country}"
inputs = { country = "${{ steps.flights.country }}" }
when = "${{ size(steps.flights.flights) > 1 }}"
[bundle.travel.tool.plan.step.visa]
handler = "stay:t"
when = "${{ steps.flights.country == 'Narnia' }}"
[bundle.travel.tool.plan.step.seats]
handler = "seats:t"
each = "${{ steps.flights.flights }}"
inputs = { x = "${{ item.id + string(index) }}" }
[bundle.travel.tool.plan.result]
content = [{ type = "text", text = "${{ size(steps.flights.flights) }} flights to ${{ request.arguments.to }}" }]
structuredContent = { hotels = "${{ steps.hotels.isError }}", why = "${{ steps.hotels.?content[0].text }}", rules = "${{ steps.?rules.contents[0] }}", visa = "${{ steps.?visa.content }}", seats = "${{ steps.seats.map(s, s.structuredContent.seat) }}" }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn steps_make_one_answer() {
    let id = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
    let search = json!({
        "name": "search_flights",
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
        "inputSchema": { "type": "object", "properties": { "to": { "type": "string" } }, "required": ["to"] },
        "outputSchema": { "type": "object", "properties": { "flights": { "type": "array", "items": id }, "country": { "type": "string" } } },
    });
    let flights = data(json!({ "flights": [{ "id": "a" }, { "id": "b" }], "country": "Norway" }));
    let air = server(json!([search]), flights);
    let stay = plain(failure("no hotels"));
    let seats = plain(data(json!({ "seat": "$params/arguments/x" })));
    let remotes = [("air", &air), ("stay", &stay), ("seats", &seats)];
    let site = site(&remotes, TRAVEL).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let all = definitions(&session).await;
        let plan = all.iter().find(|tool| tool["name"] == "plan").expect("it");
        let expected = json!({
            "name": "plan",
            "description": "Flights and hotels for a trip.",
            "inputSchema": {
                "type": "object",
                "properties": { "to": { "type": "string" } },
                "required": ["to"],
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true,
            },
        });
        assert_eq!(*plan, expected, "{way:?}");
        let result = session.call("plan", json!({ "to": "Oslo" })).await;
        let result = result.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert_eq!(result.text(), "2 flights to Oslo", "{way:?}");
        let expected = json!({
            "hotels": true,
            "why": "no hotels",
            "rules": { "uri": "rules://Norway", "text": "be polite" },
            "seats": ["a0", "b1"],
        });
        assert_eq!(structured(&result), expected, "{way:?}");
    }
    let ways = WAYS.len();
    let calls = [&air, &stay, &seats].map(|one| one.received("tools/call"));
    assert_eq!(calls, [ways, ways, 2 * ways]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_the_guide_run() {
    let guide = include_str!("../../../../../docs/bundles.md");
    let (_, steps) = guide.split_once("\n## Steps\n").expect("a section");
    let (_, block) = steps.split_once("```toml\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let tool = |name: &str, input: &str, output: Value| {
        let input = json!({ input: { "type": "string" } });
        json!({
            "name": name,
            "annotations": { "readOnlyHint": true },
            "inputSchema": { "type": "object", "properties": input },
            "outputSchema": { "type": "object", "properties": output },
        })
    };
    let id = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
    let flights =
        json!({ "flights": { "type": "array", "items": id }, "country": { "type": "string" } });
    let tools = json!([
        tool("search_flights", "to", flights),
        tool("free_seats", "flight", json!({ "free": {} })),
    ]);
    // Both tools of the server have this reply.
    let flights = json!([{ "id": "a" }, { "id": "b" }]);
    let flights =
        json!({ "flights": flights, "country": "Norway", "free": "$params/arguments/flight" });
    let air = server(tools, data(flights));
    let hotels = json!([tool("search_hotels", "city", json!({ "hotels": {} }))]);
    for (reply, found) in [
        (data(json!({ "hotels": ["Aoi"] })), json!(["Aoi"])),
        (failure("no hotels"), json!([])),
    ] {
        let stay = server(hotels.clone(), reply);
        let site = site(&[("air", &air), ("stay", &stay)], block).await;
        for (way, endpoint) in WAYS {
            let session = site.connect(way, endpoint).await;
            let result = session.call("plan", json!({ "to": "Oslo" })).await;
            let result = result.unwrap_or_else(|error| panic!("{way:?}: {error}"));
            assert_eq!(result.text(), "2 flights to Oslo", "{way:?}");
            let expected = json!({
                "flights": [{ "id": "a" }, { "id": "b" }],
                "hotels": found,
                "seats": ["a", "b"],
                "rules": "be polite",
            });
            assert_eq!(structured(&result), expected, "{way:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn independent_steps_run_at_once_and_are_cancelled_together() {
    let (one, two, three) = (plain(never()), plain(never()), plain(never()));
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [] }
step.one = { handler = "one:t" }
step.two = { handler = "two:w" }
step.three = { handler = "three:t", after = ["one"] }
"#;
    let remotes = [("one", &one), ("two", &two), ("three", &three)];
    let site = site(&remotes, bundle).await;
    for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
        let session = site.connect(way, endpoint).await;
        let of_all = |method: &str| [&one, &two, &three].map(|puppet| puppet.received(method));
        {
            let call = session.call("run", json!({}));
            let begun = eventually("both calls", async || {
                of_all("tools/call")[..2] == [number + 1, number + 1]
            });
            tokio::select! {
                ended = call => panic!("{way:?}: {ended:?}"),
                () = begun => {}
            }
        }
        eventually("`notifications/cancelled` at both", async || {
            of_all("notifications/cancelled")[..2] == [number + 1, number + 1]
        })
        .await;
        assert_eq!(of_all("tools/call")[2], 0, "it waits for another step");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_limit_names_the_steps_that_still_run() {
    let (good, hung) = (plain(text("ok")), plain(never()));
    let liar = plain(json!({ "result": { "content": "no list" } }));
    let bundle = r#"
[bundle.b.tool.run]
timeout = "1s"
result = { content = [] }
step.hung = { handler = "hung:t" }
step.write = { handler = "hung:w" }
step.liar = { handler = "liar:t", may_fail = true, after = ["a6"] }
step.last = { handler = "good:t", after = ["hung"] }
step.a0 = { handler = "good:t" }
step.a1 = { handler = "good:t", after = ["a0"] }
step.a2 = { handler = "good:t", after = ["a1"] }
step.a3 = { handler = "good:t", after = ["a1"] }
step.a4 = { handler = "good:t", after = ["a2", "a3"] }
step.a5 = { handler = "good:t" }
step.a6 = { handler = "good:t", after = ["a4", "a5"] }
"#;
    let remotes = [("good", &good), ("hung", &hung), ("liar", &liar)];
    let site = site(&remotes, bundle).await;
    for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
        let session = site.connect(way, endpoint).await;
        let error = error(&session, "run", json!({})).await;
        // The remotes have longer limits.
        assert_eq!(
            error.message(),
            "tool `run` took longer than 1s; still running: `hung` (`hung:t`), `write` (`hung:w`)",
            "{way:?}"
        );
        let data = error.data().expect("data");
        assert_eq!(data["code"], "TIMEOUT", "{way:?}");
        let steps = data["steps"].as_object().expect("steps");
        let expected = json!({ "hung": "stopped", "write": "unknown", "liar": "failed", "last": "not started" });
        for (step, state) in expected.as_object().expect("an object") {
            assert_eq!(steps[step], *state, "{way:?} {step}");
        }
        assert!((0..7).all(|number| steps[&format!("a{number}")] == "done"));
        eventually("`notifications/cancelled`", async || {
            hung.received("notifications/cancelled") == 2 * (number + 1)
        })
        .await;
        // Nothing is left behind.
        let idle = "servlet_calls_running 0\n";
        eventually(idle, async || site.service.metrics().contains(idle)).await;
    }
}

/// The error of a call, or the text of an error result.
async fn refusal(session: &Session, tool: &str) -> Result<Error, (String, Value)> {
    match session.call(tool, json!({})).await {
        Err(error) => Ok(error),
        Ok(result) => {
            assert!(result.is_error, "{result:?}");
            let meta = result.meta.clone().unwrap_or_default();
            Err((result.text(), meta))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_ends_the_tool_after_the_writes_that_have_begun() {
    let bad = plain(failure("not today"));
    let write = plain(json!({ "wait_ms": 300, "result": { "content": [] } }));
    let slow = plain(never());
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [] }
step.write = { handler = "write:w" }
step.slow = { handler = "slow:t" }
step.bad = { handler = "bad:t", each = "${{ [1, 2, 3] }}", parallel = 1, inputs = { x = "${{ item }}" } }
step.after = { handler = "slow:t", after = ["bad"] }
"#;
    let remotes = [("bad", &bad), ("write", &write), ("slow", &slow)];
    let site = site(&remotes, bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let Err((text, meta)) = refusal(&session, "run").await else {
            panic!("{way:?}: a result");
        };
        let expected = "step \"bad\", item 1 of 3 failed (bad:t):\nnot today";
        assert_eq!(text, expected, "{way:?}");
        let steps =
            json!({ "write": "done", "slow": "stopped", "bad": "failed", "after": "not started" });
        assert_eq!(meta["mcp-servlet/steps"], steps, "{way:?}");
    }
    assert_eq!(bad.received("tools/call"), WAYS.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn catches_know_the_step_that_failed() {
    let bad = plain(json!({ "error": { "code": -32050, "message": "broken", "data": "why" } }));
    let bundle = r#"
[bundle.b.tool.plain]
result = { content = [] }
step.bad = { handler = "bad:t" }
[bundle.b.tool.caught]
result = { content = [] }
step.bad = { handler = "bad:t" }
[[bundle.b.tool.caught.catches]]
kind = "remote"
error = { code = -32001, message = "${{ error.step }}: ${{ error.message }}" }
[bundle.b.tool.value]
result = { content = [], structuredContent = { error = "${{ steps.bad.?error }}" } }
step.bad = { handler = "bad:t", may_fail = true }
"#;
    let site = site(&[("bad", &bad)], bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let plain = error(&session, "plain", json!({})).await;
        let data = plain.data().expect("data");
        assert_eq!(data["step"], "bad", "{way:?}");
        assert_eq!(data["steps"], json!({ "bad": "failed" }), "{way:?}");
        let caught = error(&session, "caught", json!({})).await;
        assert_eq!(caught.code(), Some(-32001), "{way:?}");
        assert!(caught.message().starts_with("bad: "), "{caught}");
        let value = session.call("value", json!({})).await.expect("a result");
        let value = structured(&value);
        assert_eq!(value["error"]["kind"], "remote", "{way:?}");
        assert_eq!(value["error"]["code"], "SERVER_ERROR", "{way:?}");
    }
}

/// A server of this version whose calls all ask "Which city?" and return the answer. So many calls run at once.
pub(crate) fn asking(version: &str, at_once: usize) -> Puppet {
    let form = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let params = json!({ "mode": "form", "message": "Which city?", "requestedSchema": form });
    let request = json!({ "method": "elicitation/create", "params": params });
    let is = |answer: &str| json!({ "content": [], "structuredContent": { "is": answer } });
    if version == "2025-11-25" {
        return with_calls(
            &[version],
            json!([{ "ask": request, "result": is("$answer/content/city") }]),
        );
    }
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": request }, "requestState": "mine" });
    let answers = is("$params/inputResponses/q/content/city");
    let replies = [asks, answers].map(|result| vec![json!({ "result": result }); at_once]);
    let replies = replies.concat();
    let replies = replies.iter().cycle().take(4 * at_once * WAYS.len());
    with_calls(&[version], replies.cloned().collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_steps_reach_the_client_and_nothing_runs_twice() {
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [], structuredContent = { is = "${{ steps.book.structuredContent.is }}", all = "${{ steps.last.structuredContent.x }}" } }
step.before = { handler = "good:w" }
step.beside = { handler = "good:t", each = "${{ [1, 2, 3] }}", inputs = { x = "${{ item }}" } }
step.book = { handler = "far:t", after = ["before"] }
step.again = { handler = "far:t", after = ["book"] }
step.last = { handler = "good:t", inputs = { x = "${{ steps.again.structuredContent.is }}" } }
"#;
    for version in ["2025-11-25", "2026-07-28"] {
        let far = asking(version, 1);
        let good = plain(data(json!({ "x": "$params/arguments/x" })));
        let site = site(&[("far", &far), ("good", &good)], bundle).await;
        for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
            let options = Options::new().answers(Oslo);
            let session = site.connect_with(way, endpoint, options).await;
            let result = session.call("run", json!({})).await;
            let result = result.unwrap_or_else(|error| panic!("{version} {way:?}: {error}"));
            let expected = json!({ "is": "Oslo", "all": "Oslo" });
            assert_eq!(structured(&result), expected, "{version} {way:?}");
            let calls = 5 * (number + 1);
            assert_eq!(good.received("tools/call"), calls, "{version} {way:?}");
        }
    }
}

/// Tools that write and then ask, and one that only asks.
const UNANSWERED: &str = r#"
[bundle.b.tool.plain]
result = { content = [] }
step.write = { handler = "good:w" }
step.ask = { handler = "far:t", after = ["write"] }
[bundle.b.tool.caught]
result = { content = [] }
step.write = { handler = "good:w" }
step.ask = { handler = "far:t", after = ["write"] }
[[bundle.b.tool.caught.catches]]
error = { code = -32001, message = "${{ error.step }}: ${{ error.code }}" }
[bundle.b.tool.value]
result = { content = [], structuredContent = { error = "${{ steps.ask.?error }}" } }
step.write = { handler = "good:w" }
step.ask = { handler = "far:t", after = ["write"], may_fail = true }
[bundle.b.tool.mapped]
handler = "far:t"
[[bundle.b.tool.mapped.catches]]
error = { code = -32001, message = "${{ error.code }}" }
"#;

/// A server since 2026-07-28 whose calls all ask.
fn always_asking() -> Puppet {
    let form = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "Which city?", "requestedSchema": form });
    let request = json!({ "method": "elicitation/create", "params": params });
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": request }, "requestState": "mine" });
    with_calls(&["2026-07-28"], json!([{ "result": asks }]))
}

/// Asserts that the tools of [`UNANSWERED`] fail with this number and this code at the step that asks.
async fn assert_unanswered(session: &Session, number: i64, code: &str, case: &str) {
    let plain = error(session, "plain", json!({})).await;
    assert_eq!(plain.code(), Some(number), "{case}: {plain}");
    let data = plain.data().expect("data");
    assert_eq!(data["step"], "ask", "{case}");
    let steps = json!({ "write": "done", "ask": "failed" });
    assert_eq!(data["steps"], steps, "{case}");
    for (tool, message) in [
        ("caught", format!("ask: {code}")),
        ("mapped", code.to_owned()),
    ] {
        let caught = error(session, tool, json!({})).await;
        assert_eq!(caught.code(), Some(-32001), "{case} {tool}: {caught}");
        assert_eq!(caught.message(), message, "{case} {tool}");
    }
    let value = session.call("value", json!({})).await;
    let value = value.unwrap_or_else(|error| panic!("{case}: {error}"));
    let value = structured(&value);
    assert_eq!(value["error"]["kind"], "fault", "{case}: {value}");
    assert_eq!(value["error"]["code"], code, "{case}: {value}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_fails_if_the_client_has_no_capability_for_its_question() {
    let (far, good) = (always_asking(), plain(text("ok")));
    let site = site(&[("far", &far), ("good", &good)], UNANSWERED).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_unanswered(&session, -32021, "-32021", &format!("{way:?}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_fails_if_the_client_does_not_answer_its_question() {
    let (far, good) = (always_asking(), plain(text("ok")));
    let remotes = [("far", &far), ("good", &good)];
    let site = site_with("question_time = \"200ms\"\n", &remotes, UNANSWERED).await;
    for (way, endpoint) in WAYS.into_iter().filter(|(way, _)| way.is_legacy()) {
        let options = Options::new();
        for options in [
            options.clone().answers(Refusing),
            options.answers(Silent::default()),
        ] {
            let session = site.connect_with(way, endpoint, options).await;
            assert_unanswered(&session, -32603, "NOT_ANSWERED", &format!("{way:?}")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_with_a_handshake_goes_on_if_the_client_does_not_answer() {
    let (far, good) = (asking("2025-11-25", 1), plain(text("ok")));
    let remotes = [("far", &far), ("good", &good)];
    let site = site_with("question_time = \"200ms\"\n", &remotes, UNANSWERED).await;
    for (number, (way, endpoint)) in WAYS
        .into_iter()
        .filter(|(way, _)| way.is_legacy())
        .enumerate()
    {
        let options = Options::new().answers(Silent::default());
        let session = site.connect_with(way, endpoint, options).await;
        let value = session.call("value", json!({})).await;
        let value = value.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert_eq!(structured(&value), json!({}), "{way:?}");
        let log = far.log();
        let refused = log.iter().filter(|one| one["error"]["code"] == -32603);
        assert_eq!(refused.count(), number + 1, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_items_ask_at_once() {
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [], structuredContent = { all = "${{ steps.book.map(b, b.structuredContent.is) }}" } }
step.book = { handler = "far:t", each = "${{ [1, 2] }}", parallel = 2 }
"#;
    // Up to 2025-11-25, a question does not say to which of two calls it belongs.
    let far = asking("2026-07-28", 2);
    let site = site(&[("far", &far)], bundle).await;
    for (way, endpoint) in WAYS {
        let options = Options::new().answers(Oslo);
        let session = site.connect_with(way, endpoint, options).await;
        let result = session.call("run", json!({})).await;
        let result = result.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let expected = json!({ "all": ["Oslo", "Oslo"] });
        assert_eq!(structured(&result), expected, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_step_counts_as_a_call_of_its_member() {
    let far = plain(text("ok"));
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [] }
step.one = { handler = "far:t" }
step.two = { handler = "far:t", each = "${{ [1, 2] }}" }
"#;
    let site = site(&[("far", &far)], bundle).await;
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    session.call("run", json!({})).await.expect("a result");
    let metrics = site.service.metrics();
    for line in [
        "servlet_calls_total{servlet=\"far\",tool=\"t\",outcome=\"ok\"} 3\n",
        "servlet_calls_total{servlet=\"b\",tool=\"run\",outcome=\"ok\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{line} {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_log_messages_name_the_step() {
    let progress = json!({
        "progressToken": "$params/_meta/progressToken", "progress": 1, "total": 2, "message": "half",
    });
    let log = json!({ "level": "warning", "logger": "far", "data": "text" });
    let before = json!([
        { "method": "notifications/message", "params": log },
        { "method": "notifications/progress", "params": progress },
    ]);
    let far = plain(json!({ "before": before, "wait_ms": 150, "result": { "content": [] } }));
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [] }
step.one = { handler = "far:t" }
step.two = { handler = "far:t", after = ["one"] }
"#;
    let site = site(&[("far", &far)], bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let mut events = session.events();
        let (options, reports) = with_reports();
        let called = session.call_with("run", json!({}), &options).await;
        called.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let reports = reports.lock().expect("no panic").clone();
        assert_eq!(
            reports[..2],
            ["0.5/2 one: half".to_owned(), "1/2".to_owned()],
            "{way:?}: {reports:?}"
        );
        let event = timeout(PATIENCE, events.next()).await.expect("in time");
        let Event::Log { data, .. } = event.expect("open").expect("an event") else {
            panic!("{way:?}: no log message");
        };
        assert_eq!(data, json!({ "message": "text", "step": "one" }), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_does_not_begin_after_a_failure() {
    let far = plain(text("ok"));
    let bundle = r#"
[bundle.b.tool.run]
arguments = { properties = { x = {} } }
result = { content = [] }
step.write = { handler = "far:w" }
step.bad = { handler = "far:t", inputs = { x = "${{ 1 / size(string(request.arguments.x)) }}" } }
"#;
    let site = site(&[("far", &far)], bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let error = error(&session, "run", json!({ "x": "" })).await;
        let data = error.data().expect("data");
        assert_eq!(data["at"], "step.bad.inputs.x", "{way:?}");
        let steps = json!({ "write": "not started", "bad": "failed" });
        assert_eq!(data["steps"], steps, "{way:?}");
    }
    assert_eq!(far.received("tools/call"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_failures_the_first_item_counts() {
    let late = json!({ "wait_ms": 300, "result": { "content": [], "isError": true } });
    let replies = [late, failure("at once")];
    let far = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool("w", false)] } }],
            "tools/call": replies.iter().cycle().take(2 * WAYS.len()).collect::<Vec<_>>(),
        },
    }));
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [] }
step.all = { handler = "far:w", each = "${{ [1, 2] }}", inputs = { x = "${{ item }}" } }
"#;
    let site = site(&[("far", &far)], bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let Err((text, _)) = refusal(&session, "run").await else {
            panic!("{way:?}: an error");
        };
        let expected = "step \"all\", item 1 of 2 failed (far:w):";
        assert!(text.starts_with(expected), "{way:?}: {text}");
    }
}

/// A server whose resources cannot be read, with this error code.
fn without_resources(version: &str, code: i32) -> Puppet {
    script(json!({
        "versions": [version],
        "capabilities": { "tools": {}, "resources": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool("t", true)] } }],
            "resources/list": [{ "result": { "resources": [] } }],
            "resources/templates/list": [{ "result": { "resourceTemplates": [] } }],
            "resources/read": [{ "error": { "code": code, "message": "gone" } }],
        },
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_about_a_resource_is_one_of_the_remote() {
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [] }
step.rules = { resource = "far:rules://x" }
[[bundle.b.tool.run.catches]]
kind = "fault"
error = { code = -32001, message = "no servlet" }
[[bundle.b.tool.run.catches]]
kind = "remote"
error = { code = -32003, message = "${{ error.code }}: ${{ error.message }}" }
"#;
    for (version, sent, message) in [
        ("2025-11-25", -32002, "SERVER_ERROR: gone"),
        ("2025-11-25", -32602, "INVALID_PARAMS: gone"),
        ("2026-07-28", -32602, "INVALID_PARAMS: gone"),
    ] {
        let far = without_resources(version, sent);
        let site = site(&[("far", &far)], bundle).await;
        let (way, endpoint) = WAYS[0];
        let session = site.connect(way, endpoint).await;
        let error = error(&session, "run", json!({})).await;
        let found = (error.code(), error.message());
        assert_eq!(found, (Some(-32003), message), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_that_cannot_be_read_can_be_a_value() {
    let far = without_resources("2025-11-25", -32002);
    let bundle = r#"
[bundle.b.tool.run]
result = { content = [], structuredContent = { failed = "${{ steps.rules.isError }}", why = "${{ steps.rules.?error.message }}" } }
step.rules = { resource = "far:rules://x", may_fail = true }
"#;
    let site = site(&[("far", &far)], bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let result = session.call("run", json!({})).await;
        let result = result.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let value = structured(&result);
        assert_eq!(value["failed"], true, "{way:?}");
        assert!(value["why"].is_string(), "{way:?}: {value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_has_a_time_limit_of_its_own() {
    let (good, hung) = (plain(text("ok")), plain(never()));
    let bundle = r#"
[bundle.b.tool.plain]
result = { content = [] }
step.hung = { handler = "hung:t", timeout = "200ms" }
[bundle.b.tool.value]
result = { content = "${{ steps.good.content }}", structuredContent = { why = "${{ steps.hung.map(one, one.?error.kind) }}" } }
step.hung = { handler = "hung:t", each = "${{ [1, 2] }}", timeout = "200ms", may_fail = true }
step.good = { handler = "good:t", after = ["hung"] }
"#;
    let site = site(&[("good", &good), ("hung", &hung)], bundle).await;
    for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
        let session = site.connect(way, endpoint).await;
        let plain = error(&session, "plain", json!({})).await;
        let expected = "remote `hung` did not answer `tools/call` within 200ms";
        assert_eq!(plain.message(), expected, "{way:?}");
        let data = plain.data().expect("data");
        assert_eq!(data["step"], "hung", "{way:?}");
        assert_eq!(data["steps"], json!({ "hung": "failed" }), "{way:?}");
        let value = session.call("value", json!({})).await;
        let value = value.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert_eq!(value.text(), "ok", "{way:?}");
        let expected = json!({ "why": ["timeout", "timeout"] });
        assert_eq!(structured(&value), expected, "{way:?}");
        eventually("`notifications/cancelled`", async || {
            hung.received("notifications/cancelled") == 3 * (number + 1)
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_lies_fails_its_step() {
    let number = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let mut promise = tool("t", true);
    promise["outputSchema"] = number;
    let no_list = plain(json!({ "result": { "content": "no list" } }));
    let other = server(json!([promise]), data(json!({ "n": "seven" })));
    let slow = plain(never());
    let bundle = r#"
[bundle.b.tool.no_list]
result = { content = [] }
step.slow = { handler = "slow:t" }
step.liar = { handler = "liar:t" }
step.last = { handler = "slow:t", after = ["liar"] }
[bundle.b.tool.other]
result = { content = [], structuredContent = { n = "${{ steps.next.content }}" } }
step.liar = { handler = "other:t" }
step.next = { handler = "slow:t", inputs = { x = "${{ steps.liar.n + 1 }}" } }
"#;
    let remotes = [("liar", &no_list), ("other", &other), ("slow", &slow)];
    let site = site(&remotes, bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let liar = error(&session, "no_list", json!({})).await;
        let data = liar.data().expect("data");
        assert_eq!(data["step"], "liar", "{way:?}: {liar}");
        let steps = json!({ "liar": "failed", "slow": "stopped", "last": "not started" });
        assert_eq!(data["steps"], steps, "{way:?}: {liar}");
        let other = error(&session, "other", json!({})).await;
        let data = other.data().expect("data");
        assert_eq!(data["code"], "MAPPING_FAILED", "{way:?}: {other}");
        assert_eq!(data["at"], "step.next.inputs.x", "{way:?}: {other}");
        let steps = json!({ "liar": "done", "next": "failed" });
        assert_eq!(data["steps"], steps, "{way:?}: {other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_step_itself_ends_the_tool_even_if_it_may_fail() {
    let mut whole = tool("t", true);
    whole["inputSchema"]["properties"]["x"] = json!({ "type": "integer" });
    let far = server(json!([whole]), text("ok"));
    let bundle = r#"
[bundle.b.tool.mapping]
arguments = { properties = { x = {} } }
result = { content = [] }
step.bad = { handler = "far:t", may_fail = true, inputs = { x = "${{ 1 / size(string(request.arguments.x)) }}" } }
[bundle.b.tool.list]
arguments = { properties = { x = {} } }
result = { content = [] }
step.bad = { handler = "far:t", may_fail = true, most = 1, each = "${{ request.arguments.x }}" }
[bundle.b.tool.passed]
arguments = { properties = { x = {} } }
result = { content = [] }
step.bad = { handler = "far:t", may_fail = true, inputs = { x = "${{ request.arguments.x }}" } }
[bundle.b.tool.made]
arguments = { properties = { x = {} } }
result = { content = [] }
step.bad = { handler = "far:t", may_fail = true, inputs = { x = "${{ json(request.arguments.x) }}" } }
"#;
    let site = site(&[("far", &far)], bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for (tool, x, at, message) in [
            (
                "mapping",
                json!(""),
                "step.bad.inputs.x",
                "tool `mapping` cannot fill `step.bad.inputs.x`: the arithmetic has no result",
            ),
            (
                "list",
                json!([1, 2]),
                "step.bad.each",
                "tool `list` cannot run `step.bad`: `each` has 2 items, and `most` is 1",
            ),
            (
                "made",
                json!("\"seven\""),
                "step.bad.inputs.x",
                "`far:t` does not take the value of `step.bad.inputs.x`",
            ),
        ] {
            let error = error(&session, tool, json!({ "x": x })).await;
            assert_eq!(error.message(), message, "{way:?}");
            let data = error.data().expect("data");
            assert_eq!(data["code"], "MAPPING_FAILED", "{way:?} {tool}");
            assert_eq!(data["at"], at, "{way:?} {tool}");
            assert_eq!(data["steps"], json!({ "bad": "failed" }), "{way:?} {tool}");
        }
        // The model has sent this value itself.
        let passed = session.call("passed", json!({ "x": "seven" })).await;
        let passed = passed.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert!(passed.is_error, "{way:?}: {passed:?}");
        let text = passed.text();
        let expected = "invalid arguments: `/x` must match {\"type\":\"integer\"}, got \"seven\"";
        assert!(text.starts_with(expected), "{way:?}: {text}");
    }
    assert_eq!(far.received("tools/call"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_steps_of_a_call_share_its_limits() {
    let far = plain(text("ok"));
    let large = plain(text(&"x".repeat(2 << 20)));
    // Each step makes more than 10,000 turns of two loops, and a call has 100,000.
    let turns = "${{ size(request.arguments.x.map(a, request.arguments.x.map(b, 1))) }}";
    let steps = |count: usize| -> String {
        let step = |number: usize| {
            let after = match number {
                0 => "[]".to_owned(),
                _ => format!("[\"s{}\"]", number - 1),
            };
            format!(
                "step.s{number} = {{ handler = \"far:t\", after = {after}, inputs = {{ x = \"{turns}\" }} }}\n"
            )
        };
        (0..count).map(step).collect()
    };
    let head = "arguments = { properties = { x = {} } }\nresult = { content = [] }\n";
    let (within, beyond) = (steps(1), steps(10));
    let bundle = format!(
        r#"
[bundle.b.tool.within]
{head}{within}
[bundle.b.tool.beyond]
{head}{beyond}
[bundle.b.tool.large]
arguments = {{ properties = {{ x = {{}} }} }}
result = {{ content = "${{{{ steps.all.map(one, one.content[0]) }}}}" }}
step.all = {{ handler = "large:t", each = "${{{{ request.arguments.x }}}}" }}
"#
    );
    let site = site(&[("far", &far), ("large", &large)], &bundle).await;
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    let x = json!({ "x": vec![0; 100] });
    let within = session.call("within", x.clone()).await;
    within.unwrap_or_else(|error| panic!("{error}"));
    let beyond = error(&session, "beyond", x).await;
    let message = beyond.message();
    assert!(
        message.starts_with("tool `beyond` cannot fill `step.s")
            && message.ends_with(".inputs.x`: the expressions of this call take too long"),
        "{message}"
    );
    let steps = &beyond.data().expect("data")["steps"];
    assert_eq!(steps["s0"], "done", "{steps}");
    assert_eq!(steps["s9"], "not started", "{steps}");
    let large = error(&session, "large", json!({ "x": vec![0; 20] })).await;
    let data = large.data().expect("data");
    assert_eq!(data["code"], "RESULTS_TOO_LARGE", "{large}");
    assert!(
        large
            .message()
            .starts_with("the results of the steps take more than 32 MiB; `all` brought "),
        "{large}"
    );
}
