//! Virtual tools, as clients of each transport and protocol version see them.

use mcp_servlet_client::{CallOptions, CallResult, Options, Session};
use puppet::eventually;
use serde_json::{Value, json};

use crate::{
    client::Oslo,
    site::{OLD, PIPE, Site, WAYS, WEB, Way, definitions, tools},
    support::Wat,
    wasm::{Reply, echo_as, replies},
};

/// The handler of most tests.
fn weather() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "name": "get_weather",
        "title": "Weather",
        "description": "The weather of a city.",
        "annotations": { "readOnlyHint": true },
        "inputSchema": {
            "type": "object",
            "properties": { "city": text, "units": text, "key": text },
            "required": ["city"],
        },
    })
}

/// A servlet whose tool `get_weather` returns its request as structured content.
fn echo() -> Vec<u8> {
    echo_as(&json!({ "tools": [weather()] }).to_string())
}

/// Serves a servlet `weather` with these bundles at an endpoint of each kind.
async fn site(wasm: &[u8], more: &str) -> Site {
    let config = format!("{WEB}{OLD}{PIPE}[servlet.weather]\nsource = \"weather.wasm\"\n{more}");
    Site::start(&config, &[("weather.wasm", wasm)]).await
}

/// The result as the server sent it, without what results since 2026-07-28 have in addition.
fn plain(result: &CallResult) -> Value {
    let mut json: Value = serde_json::from_str(result.raw.get()).expect("JSON");
    let members = json.as_object_mut().expect("an object");
    members.remove("resultType");
    let meta = members.get_mut("_meta").and_then(Value::as_object_mut);
    if let Some(meta) = meta {
        meta.retain(|key, _| !key.starts_with("io.modelcontextprotocol/"));
        if meta.is_empty() {
            members.remove("_meta");
        }
    }
    json
}

async fn call(session: &Session, tool: &str, arguments: Value) -> Value {
    let called = session.call(tool, arguments).await;
    plain(&called.unwrap_or_else(|error| panic!("{tool}: {error}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_bundle_serves_nothing() {
    let site = site(&echo(), "[bundle.ops]\n").await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["get_weather"], "{way:?}");
    }
    let ops = "bundles = [\"ops\"]\n";
    let site = Site::start(
        &format!("{WEB}{ops}{OLD}{ops}{PIPE}{ops}[bundle.ops]\n"),
        &[],
    )
    .await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let lists = session.lists().await.expect("lists");
        assert!(lists.tools.unwrap_or_default().is_empty(), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_has_the_name_of_its_table_and_the_texts_of_the_bundle_or_the_handler() {
    let bundles = r#"
[bundle.ops.tool.city-weather_1]
handler = "weather:get_weather"
[bundle.ops.tool.forecast]
handler = "weather:get_weather"
description = "Mine."
title = "Forecast"
annotations = { readOnlyHint = false }
[bundle.ops.tool.get_weather]
handler = "weather:get_weather"
"#;
    let site = site(&echo(), bundles).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let all = definitions(&session).await;
        let names: Vec<_> = all.iter().map(|tool| tool["name"].clone()).collect();
        // The tool of the servlet makes way for the one that is called so.
        let expected = [
            "weather_get_weather",
            "city-weather_1",
            "forecast",
            "get_weather",
        ];
        assert_eq!(names, expected, "{way:?}");
        let same = &all[1];
        assert_eq!(same["description"], "The weather of a city.", "{way:?}");
        assert_eq!(same["title"], "Weather", "{way:?}");
        assert_eq!(
            same["annotations"],
            json!({ "readOnlyHint": true }),
            "{way:?}"
        );
        assert_eq!(same["inputSchema"], weather()["inputSchema"], "{way:?}");
        let forecast = &all[2];
        assert_eq!(forecast["description"], "Mine.", "{way:?}");
        assert_eq!(forecast["title"], "Forecast", "{way:?}");
        assert_eq!(
            forecast["annotations"],
            json!({ "readOnlyHint": false }),
            "{way:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_before_the_handler_runs() {
    let numbers = ["1", "2", "3", "4", "5"];
    let results = numbers.map(|text| json!({ "content": [{ "type": "text", "text": text }] }));
    let results = results.map(|result| result.to_string());
    let results: Vec<_> = results.iter().map(String::as_str).collect();
    let description = json!({ "tools": [weather()] }).to_string();
    let counts = Wat::new().describe(&description).answers(&results).wasm();
    let one = "limits = { isolation = \"shared\", instances = { max = 1 } }\n";
    let bundle =
        "[bundle.ops.tool.t]\nhandler = \"weather:get_weather\"\nset = { units = \"metric\" }\n";
    let site = site(&counts, &format!("{one}{bundle}")).await;
    for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
        let session = site.connect(way, endpoint).await;
        for (arguments, texts) in [
            (
                json!({ "city": 42 }),
                ["`/city`", "{\"type\":\"string\"}", "42"],
            ),
            (json!({}), ["`/city` is missing", "", ""]),
            (
                json!({ "city": "Oslo", "units": "imperial" }),
                ["`/units`", "unknown", ""],
            ),
            (json!({ "city": "Oslo", "more": 1 }), ["`/more`", "", ""]),
        ] {
            let refused = call(&session, "t", arguments).await;
            assert_eq!(refused["isError"], true, "{way:?}: {refused}");
            let text = refused["content"][0]["text"].as_str().expect("a text");
            assert!(
                texts.iter().all(|part| text.contains(part)),
                "{way:?}: {text}"
            );
        }
        let called = call(&session, "t", json!({ "city": "Oslo" })).await;
        assert_eq!(called["content"][0]["text"], numbers[number], "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_neither_see_nor_send_what_is_fixed() {
    let bundles = r#"
[bundle.ops.tool.fixed]
handler = "weather:get_weather"
set = { units = "metric", key = "${NO_SUCH_VARIABLE_HERE:-s3cret}" }
[bundle.ops.tool.mapped]
handler = "weather:get_weather"
inputs = { city = "${{ request.arguments.place }}", units = "metric", key = "$${NAME}" }
"#;
    let site = site(&echo(), bundles).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let all = definitions(&session).await;
        let schema = |property: &str| {
            json!({
                "type": "object",
                "properties": { property: { "type": "string" } },
                "required": [property],
                "additionalProperties": false,
            })
        };
        assert_eq!(all[1]["inputSchema"], schema("city"), "{way:?}");
        assert_eq!(all[2]["inputSchema"], schema("place"), "{way:?}");
        for (tool, argument, key) in [("fixed", "city", "s3cret"), ("mapped", "place", "${NAME}")] {
            let called = call(&session, tool, json!({ argument: "Oslo" })).await;
            let received = &called["structuredContent"]["params"]["arguments"];
            let expected = json!({ "city": "Oslo", "units": "metric", "key": key });
            assert_eq!(*received, expected, "{way:?}");
            let sent = call(&session, tool, json!({ argument: "Oslo", "key": "mine" })).await;
            assert_eq!(sent["isError"], true, "{way:?}: {sent}");
            let text = sent["content"][0]["text"].as_str().expect("a text");
            let expected = "invalid arguments: `/key` is unknown";
            assert!(text.starts_with(expected), "{way:?}: {text}");
        }
    }
}

/// Virtual tools that pass results of a tool, map them, and map them to something invalid.
const RESULTS: &str = r#"
[bundle.ops.tool.same]
handler = "weather:sum"
[bundle.ops.tool.mapped]
handler = "weather:sum"
output = { type = "object", properties = { total = { type = "number" } } }
[bundle.ops.tool.mapped.result]
content = [{ type = "text", text = "${{ result.structuredContent.total }} of ${{ request.arguments.n }}" }]
structuredContent = { total = "${{ result.structuredContent.total }}", more = "${{ result.structuredContent.?more }}" }
isError = "${{ result.?isError }}"
_meta = { "acme/source" = "sum" }
[bundle.ops.tool.good_only]
handler = "weather:sum"
[bundle.ops.tool.good_only.result]
content = []
isError = "${{ result.structuredContent.?none }}"
[bundle.ops.tool.invalid]
handler = "weather:sum"
[bundle.ops.tool.invalid.result]
content = "${{ result.structuredContent }}"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn results_are_mapped_or_pass() {
    let handler =
        json!([{ "name": "sum", "inputSchema": { "type": "object", "properties": { "n": {} } } }]);
    let good = r#"{"content":[{"type":"text","text":"ok"}],"structuredContent":{"total":7.5,"list":[1]},"_meta":{"a":1},"isError":false}"#;
    let failed = r#"{"content":[{"type":"text","text":"no"}],"structuredContent":{"total":0},"isError":true}"#;
    let wasm = replies(
        &handler,
        &[
            (r#""sum","arguments":{"n":1}"#, Reply::Output(good)),
            (r#""sum","arguments":{"n":2}"#, Reply::Output(failed)),
        ],
    );
    let site = site(&wasm, RESULTS).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let same = call(&session, "same", json!({ "n": 1 })).await;
        let passes: Value = serde_json::from_str(good).expect("JSON");
        assert_eq!(same, passes, "{way:?}");
        let mapped = call(&session, "mapped", json!({ "n": 1 })).await;
        let expected = json!({
            "content": [{ "type": "text", "text": "7.5 of 1" }],
            "structuredContent": { "total": 7.5 },
            "isError": false,
            "_meta": { "acme/source": "sum" },
        });
        assert_eq!(mapped, expected, "{way:?}");
        let failed = call(&session, "mapped", json!({ "n": 2 })).await;
        assert_eq!(failed["isError"], true, "{way:?}");
        assert_eq!(failed["content"][0]["text"], "0 of 2", "{way:?}");
        // An absent value leaves its key out.
        let absent = call(&session, "good_only", json!({ "n": 1 })).await;
        assert_eq!(absent, json!({ "content": [] }), "{way:?}");
        let error = session
            .call("invalid", json!({ "n": 1 }))
            .await
            .expect_err("an error");
        assert_eq!(error.code(), Some(-32603), "{way:?}");
        let data = json!({ "bundle": "ops", "tool": "invalid", "at": "/content", "code": "RESULT_INVALID" });
        assert_eq!(error.data(), Some(&data), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_read_the_session_of_each_transport() {
    let bundle = r#"
[bundle.ops.tool.who]
handler = "weather:get_weather"
inputs = { city = "${{ request.session.id }}", units = "${{ request.session.clientInfo.name }} ${{ request.session.capabilities.?elicitation.hasValue() }}", key = "${{ request.name }} ${{ request.meta.?trace.orValue('none') }}" }
arguments = { type = "object", properties = {} }
"#;
    let site = site(&echo(), bundle).await;
    let client = || Options::new().client("acme", "1");
    for (way, endpoint) in WAYS {
        for (options, meta, units, key) in [
            (client(), json!({}), "acme false", "who none"),
            (
                client().answers(Oslo),
                json!({ "trace": "t-1" }),
                "acme true",
                "who t-1",
            ),
        ] {
            let session = site.connect_with(way, endpoint, options).await;
            let meta = meta.as_object().cloned().expect("an object");
            let options = CallOptions::new().meta(meta);
            let mut ids = Vec::new();
            for _ in 0..2 {
                let called = session.call_with("who", json!({}), &options).await;
                let called = plain(&called.expect("a result"));
                let read = &called["structuredContent"]["params"]["arguments"];
                assert_eq!(read["units"], units, "{way:?}: {read}");
                assert_eq!(read["key"], key, "{way:?}: {read}");
                ids.push(read["city"].as_str().expect("a text").to_owned());
            }
            assert_eq!(ids[0], ids[1], "{way:?}");
            let has_none = ids[0].is_empty();
            assert_eq!(has_none, way == Way::HttpModern, "{way:?}: {ids:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_on_two_ports_share_a_handler_and_no_call_waits_for_another() {
    let handler =
        json!([{ "name": "t", "inputSchema": { "type": "object", "properties": { "hang": {} } } }]);
    let done = r#"{"content":[{"type":"text","text":"done"}]}"#;
    let wasm = replies(
        &handler,
        &[
            (r#""t","arguments":{"hang":true}"#, Reply::Hang),
            (r#""t""#, Reply::Output(done)),
        ],
    );
    let other = "[listener.other]\naddress = \"localhost:0\"\n\
        [endpoint.other]\nkind = \"http\"\nlistener = \"other\"\nbundles = [\"ops\"]\n";
    let bundle = "[bundle.ops.tool.run]\nhandler = \"weather:t\"\n";
    let limit = "limits.timeout = \"none\"\n";
    let site = site(&wasm, &format!("{limit}{bundle}{other}")).await;
    let mut hosts = site.service.servers().map(mcp_servlet_server::Server::host);
    let first = hosts.next().expect("an endpoint");
    let last = hosts.last().expect("another endpoint");
    let servlet = last.handlers()[0].as_servlet().expect("a servlet");
    assert!(
        std::sync::Arc::ptr_eq(servlet, &first.servlets()[0]),
        "it is loaded once"
    );
    let runs = |count: usize| {
        let metrics = site.service.metrics();
        metrics.contains(&format!("servlet_calls_running {count}\n"))
    };
    for way in [Way::HttpLegacy, Way::HttpModern] {
        let (web, other) = (
            site.connect(way, "web").await,
            site.connect(way, "other").await,
        );
        assert_eq!(tools(&other).await, ["run"], "{way:?}");
        let quick = async {
            eventually("the other call runs", async || runs(1)).await;
            for _ in 0..5 {
                assert_eq!(
                    call(&other, "run", json!({})).await["content"][0]["text"],
                    "done"
                );
            }
        };
        tokio::select! {
            ended = web.call("run", json!({ "hang": true })) => panic!("{way:?}: {ended:?}"),
            () = quick => {}
        }
        eventually("the call is stopped", async || runs(0)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_arguments_are_dropped_if_the_servlet_of_the_handler_drops_them() {
    let bundle = "arguments.unknown = \"drop\"\n[bundle.ops.tool.t]\n\
        handler = \"weather:get_weather\"\nset = { units = \"metric\" }\n";
    let site = site(&echo(), bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let arguments = json!({ "city": "Oslo", "units": "imperial", "toolCallId": 7 });
        let result = call(&session, "t", arguments).await;
        let expected = json!({ "city": "Oslo", "units": "metric" });
        let found = &result["structuredContent"]["params"]["arguments"];
        assert_eq!(found, &expected, "{way:?}: {result}");
    }
    let dropped = site.service.metrics();
    let expected = r#"servlet_arguments_dropped_total{servlet="weather",tool="t"} 10"#;
    assert!(dropped.contains(expected), "{dropped}");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_arguments_are_dropped_only_if_the_servlets_of_all_steps_drop_them() {
    let step = |name: &str, servlet: &str| {
        format!(
            "step.{name} = {{ handler = \"{servlet}:get_weather\", inputs = {{ city = \"${{{{ request.arguments.city }}}}\" }} }}\n"
        )
    };
    let tool = |name: &str, second: &str| {
        let made = "${{ steps.a.structuredContent.params.arguments }}";
        let (first, second) = (step("a", "weather"), step("b", second));
        format!(
            "[bundle.ops.tool.{name}]\nresult = {{ content = [], structuredContent = {{ made = \"{made}\" }} }}\n{first}{second}"
        )
    };
    let (drops, refuses) = (tool("drops", "weather"), tool("refuses", "other"));
    let other = "[servlet.other]\nsource = \"weather.wasm\"\n";
    let bundle = format!("arguments.unknown = \"drop\"\n{other}{drops}{refuses}");
    let site = site(&echo(), &bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let arguments = json!({ "city": "Oslo", "toolCallId": 7 });
        let dropped = call(&session, "drops", arguments.clone()).await;
        let made = &dropped["structuredContent"]["made"];
        assert_eq!(made, &json!({ "city": "Oslo" }), "{way:?}: {dropped}");
        let error = call(&session, "refuses", arguments).await;
        let text = error["content"][0]["text"].as_str().expect("a text");
        let expected = "invalid arguments: `/toolCallId` is unknown";
        assert!(text.starts_with(expected), "{way:?}: {text}");
    }
}
