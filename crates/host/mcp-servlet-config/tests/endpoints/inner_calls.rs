//! The records of calls that virtual tools and servlets make for a request: log, metrics, traces and audit log.

use std::{collections::BTreeMap, fs};

use opentelemetry_proto::tonic::trace::v1::Span;
use puppet::eventually;
use serde_json::{Value, json};

use crate::{
    log,
    site::{Site, WEB},
    support::{
        Wat,
        caller::{caller, to_call, to_read},
    },
    traces::{Collector, attributes},
    wasm::{describe, echo, echo_features, servlet},
};

const KEY: &str = "a-key-of-a-machine";

/// A virtual tool with a step for each kind of call. One of them calls a servlet that makes calls of its own.
const PLAN: &str = r#"bundles = ["trips"]
[bundle.trips.tool.plan_trip]
result = { content = [] }
step.find = { handler = "e:t" }
step.seats = { handler = "e:t", each = "${{ [1, 2] }}", after = ["find"] }
step.rules = { resource = "f:x://{country}", inputs = { country = "s3cret" } }
step.broken = { handler = "broken:t", may_fail = true }
step.ask = { handler = "planner:t", after = ["seats"] }
[servlet.planner]
source = "planner.wasm"
allow = { tools = ["e:*"], resources = ["f:x://*"] }
[servlet.e]
source = "e.wasm"
[servlet.f]
source = "f.wasm"
[servlet.broken]
source = "broken.wasm"
"#;

async fn start(collector: &Collector) -> Site {
    let digest = mcp_servlet_server::Sha256::of(KEY.as_bytes());
    let auth = format!("[auth.corp]\nkey = [{{ name = \"ci\", sha256 = \"{digest}\" }}]\n");
    let (endpoint, bundle) = PLAN.split_once('\n').expect("lines");
    let records = format!("[audit]\nto = \"audit.jsonl\"\n{}", collector.section());
    let config = format!("{WEB}{endpoint}\nauth = \"corp\"\n{auth}{records}{bundle}");
    let calls = [to_call("e:t"), to_call("e:none"), to_read("f", "x://a")];
    let broken = Wat::new().describe(&describe(&["t"]));
    let broken = broken.export("call", "", "unreachable");
    let files = [
        ("planner.wasm", &*caller(&calls, "").wasm()),
        ("e.wasm", &*echo(&["t"])),
        ("f.wasm", &*echo_features()),
        ("broken.wasm", &*broken.wasm()),
    ];
    Site::start(&config, &files).await
}

/// Calls a tool as the caller `ci`.
fn call(site: &Site, tool: &str) -> Value {
    let client = site.http("web");
    let client = client.with("authorization", &format!("Bearer {KEY}"));
    let params = json!({ "name": tool, "arguments": {} });
    client.ask("tools/call", params).message()
}

/// What the plan calls: the maker (a step with its item, or a servlet), the member, what it has, and the outcome.
fn expected() -> Vec<[&'static str; 4]> {
    vec![
        ["find", "e", "t", "ok"],
        ["seats 0", "e", "t", "ok"],
        ["seats 1", "e", "t", "ok"],
        ["rules", "f", "x://{country}", "ok"],
        ["broken", "broken", "t", "trap"],
        ["ask", "planner", "t", "ok"],
        ["via planner", "e", "t", "ok"],
        ["via planner", "e", "none", "unknown"],
        ["via planner", "f", "x://a", "ok"],
    ]
}

fn sorted(mut lines: Vec<Vec<String>>) -> Vec<Vec<String>> {
    lines.sort();
    lines
}

fn expected_sorted() -> Vec<Vec<String>> {
    let all = expected().into_iter();
    sorted(all.map(|line| line.map(str::to_owned).to_vec()).collect())
}

/// What has made a call, from its three fields.
fn maker(step: Option<&str>, index: Option<String>, via: Option<&str>) -> String {
    match (step, index, via) {
        (Some(step), None, None) => step.to_owned(),
        (Some(step), Some(index), None) => format!("{step} {index}"),
        (None, None, Some(via)) => format!("via {via}"),
        other => panic!("{other:?}"),
    }
}

fn audit(site: &Site, event: &str) -> Vec<Value> {
    let text = fs::read_to_string(site.path("audit.jsonl")).expect("lines");
    assert!(!text.contains("s3cret"), "{text}");
    let lines = text.lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["event"] == event).collect()
}

/// What a line of the audit log says of an inner call. The rest must be as in the line of the request.
fn part_of(line: &Value, outer: &Value) -> Vec<String> {
    for (key, value) in [("outer", "plan_trip"), ("endpoint", "web")] {
        assert_eq!(line[key], value, "{line}");
    }
    for key in ["caller", "peer", "trace"] {
        let is_same = line[key] == outer[key] && !line[key].is_null();
        assert!(is_same, "{key}: {line}");
    }
    assert_eq!(line["caller"]["subject"], "ci");
    assert!(line["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{line}");
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let index = line["index"].as_u64().map(|index| index.to_string());
    let maker = maker(text("step").as_deref(), index, text("via").as_deref());
    let name = text("name").expect("a name");
    let is_read = line["method"] == "resources/read";
    assert_eq!(is_read, name.contains(':'), "{line}");
    let [member, outcome] = ["member", "outcome"].map(|key| text(key).expect("a value"));
    vec![maker, member, name, outcome]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_of_a_step_or_a_servlet_is_recorded_with_both_names_and_the_caller() {
    log::start();
    let collector = Collector::start().await;
    let site = start(&collector).await;
    let answer = call(&site, "plan_trip");
    assert_eq!(answer["result"]["isError"], Value::Null, "{answer}");
    let metrics = site.service.metrics();
    site.stop().await;

    let outer = audit(&site, "call").remove(0);
    assert_eq!(
        (&outer["name"], &outer["steps"]),
        (&"plan_trip".into(), &9.into())
    );
    let lines = audit(&site, "inner");
    let parts = lines.iter().map(|line| part_of(line, &outer));
    assert_eq!(sorted(parts.collect()), expected_sorted());

    for (member, tool, outcome, count) in [
        ("e", "t", "ok", 4),
        ("broken", "t", "trap", 1),
        ("planner", "t", "ok", 1),
        ("trips", "plan_trip", "ok", 1),
    ] {
        let line = format!(
            "servlet_calls_total{{servlet=\"{member}\",tool=\"{tool}\",outcome=\"{outcome}\"}} {count}\n"
        );
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
    assert!(
        !metrics.contains("tool=\"none\""),
        "a servlet made up this name: {metrics}"
    );

    for part in [
        "step=\"seats\" index=1 member=\"e\" tool=\"t\" outcome=\"ok\"",
        "step=\"rules\" member=\"f\" resource=\"x://{country}\" outcome=\"ok\"",
        "via=\"planner\" member=\"e\" tool=\"none\" outcome=\"unknown\"",
    ] {
        let line = log::line(part).await;
        for outer in [
            "servlet=\"trips\"",
            "tool=\"plan_trip\"",
            "endpoint=\"web\"",
            "inner call ended",
        ] {
            assert!(line.contains(outer), "{outer}: {line}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_has_one_line_which_is_a_warning_unless_the_step_may_fail() {
    log::start();
    let unsound = Wat::new().describe(&describe(&["t"]));
    let unsound = unsound.export("call", "", "unreachable").wasm();
    let config = format!(
        "{WEB}[servlet.unsound]\nsource = \"unsound.wasm\"\n\
         [bundle.b.tool.fails]\nresult = {{ content = [] }}\n\
         step.strict = {{ handler = \"unsound:t\" }}\n\
         [bundle.b.tool.goes_on]\nresult = {{ content = [] }}\n\
         step.lenient = {{ handler = \"unsound:t\", may_fail = true }}\n"
    );
    let site = Site::start(&config, &[("unsound.wasm", &*unsound)]).await;
    for (tool, step, level) in [
        ("fails", "strict", " WARN "),
        ("goes_on", "lenient", " INFO "),
    ] {
        call(&site, tool);
        let line = log::line(&format!("step=\"{step}\"")).await;
        let outer = format!("tool=\"{tool}\"");
        for part in [
            level,
            "inner call ended",
            "member=\"unsound\" tool=\"t\" outcome=\"trap\" error=\"servlet `unsound` trapped",
            &outer,
            "endpoint=\"web\"",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    assert!(!log::has("failed error=servlet `unsound`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_span_of_an_inner_call_is_the_child_of_what_makes_it() {
    let collector = Collector::start().await;
    let site = start(&collector).await;
    call(&site, "plan_trip");
    site.stop().await;
    let outer = collector.only("tools/call plan_trip");
    let planner = collector.only("tools/call planner:t");
    let all = collector.spans_that(|span| span.span_id != outer.span_id && span.name != "gate");
    assert!(all.iter().all(|span| span.trace_id == outer.trace_id));
    let parts = all.iter().map(|span: &Span| {
        let found = attributes(span);
        let get = |name: &str| found.get(name).map(String::as_str);
        let via = get("mcp_servlet.via");
        let parent = if via.is_some() { &planner } else { &outer };
        assert_eq!(span.parent_span_id, parent.span_id, "{found:?}");
        let index = get("mcp_servlet.index").map(str::to_owned);
        let maker = maker(get("mcp_servlet.step"), index, via);
        let name = get("gen_ai.tool.name").or(get("mcp.resource.uri"));
        let outcome = get("error.type").unwrap_or("ok");
        [
            Some(&*maker),
            get("mcp_servlet.member"),
            name,
            Some(outcome),
        ]
        .map(|part| part.expect("a value").to_owned())
        .to_vec()
    });
    assert_eq!(sorted(parts.collect()), expected_sorted());
    assert_eq!(
        attributes(&planner).remove("mcp.method.name").as_deref(),
        Some("tools/call")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_inner_call_that_is_stopped_is_recorded() {
    let collector = Collector::start().await;
    let hung = Wat::new().describe(&describe(&["t"]));
    let hung = hung.export("call", "", "(loop $again (br $again)) (i32.const 0)");
    let config = format!(
        "{WEB}[audit]\nto = \"audit.jsonl\"\n{}[servlet.hung]\nsource = \"hung.wasm\"\n\
         [servlet.a]\nsource = \"a.wasm\"\n\
         [bundle.b.tool.run]\ntimeout = \"200ms\"\nresult = {{ content = [] }}\n\
         step.fast = {{ handler = \"a:t\" }}\nstep.slow = {{ handler = \"hung:t\" }}\n",
        collector.section()
    );
    let files = [
        ("hung.wasm", &*hung.wasm()),
        ("a.wasm", &*servlet(&["t"], "a")),
    ];
    let site = Site::start(&config, &files).await;
    let answer = call(&site, "run");
    assert_eq!(answer["error"]["data"]["code"], "TIMEOUT", "{answer}");
    let line = "servlet_calls_total{servlet=\"hung\",tool=\"t\",outcome=\"cancelled\"} 1\n";
    eventually(line, async || site.service.metrics().contains(line)).await;
    site.stop().await;
    let outcomes: BTreeMap<_, _> = audit(&site, "inner")
        .iter()
        .map(|line| (line["step"].to_string(), line["outcome"].to_string()))
        .collect();
    let expected = [("\"fast\"", "\"ok\""), ("\"slow\"", "\"cancelled\"")];
    assert_eq!(
        outcomes,
        expected
            .map(|(step, outcome)| (step.into(), outcome.into()))
            .into()
    );
    let span = collector.only("tools/call hung:t");
    assert_eq!(attributes(&span)["error.type"], "cancelled");
}
