//! Servlets that call tools of others.

use puppet::eventually;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use wire::message::{able, stateless};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    log,
    site::{Site, WAYS, WEB, tools},
    support::{
        Wat,
        caller::{ASK, CALL_TOOL, caller, to_call, to_read},
    },
    wasm::{Reply, describe, echo, echo_as, echo_features, replies, servlet},
};

/// A servlet `planner` that makes these calls, and has the only tools that clients see.
const PLANNER: &str = "bundles = [\"planner\"]\n[servlet.planner]\nsource = \"planner.wasm\"\n\
    allow = { tools = [\"e:*\"], resources = [\"f:x://*\"] }\n\
    [servlet.e]\nsource = \"e.wasm\"\n[servlet.f]\nsource = \"f.wasm\"\n";

fn planner(requests: &[Value]) -> Vec<u8> {
    caller(requests, "").wasm()
}

fn with_arguments(name: &str, arguments: &Value) -> Value {
    let mut request = to_call(name);
    request["params"]["arguments"] = arguments.clone();
    request
}

/// The answers to the calls of the planner.
async fn answers(site: &Site) -> Vec<Value> {
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    let result = session.call("t", json!({})).await.expect("a result");
    let result = json!(result.raw);
    let answers = result["structuredContent"]["answers"].as_array();
    answers.unwrap_or_else(|| panic!("{result}"))[1..].to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servlet_calls_members_that_clients_do_not_see() {
    let planner = planner(&[with_arguments("e:t", &json!({ "x": 1 }))]);
    let files = [
        ("planner.wasm", &*planner),
        ("e.wasm", &*echo(&["t"])),
        ("f.wasm", &*echo(&["t"])),
    ];
    let site = Site::start(&format!("{WEB}{PLANNER}"), &files).await;
    for (way, endpoint) in WAYS.into_iter().filter(|(_, endpoint)| *endpoint == "web") {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["t"]);
    }
    let answer = answers(&site).await.remove(0);
    let request = &answer["result"]["structuredContent"];
    assert_eq!(
        request["params"]["arguments"],
        json!({ "x": 1 }),
        "{answer}"
    );
    // Nothing else of the client goes on.
    let meta = request["params"]["_meta"].as_object().expect("an object");
    let keys: Vec<_> = meta.keys().map(String::as_str).collect();
    let expected = [
        "progressToken",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "mcp-servlet/via",
    ];
    assert_eq!(keys, expected);
    assert_eq!(meta["mcp-servlet/via"], json!(["planner"]));
    let metrics = site.service.metrics();
    for servlet in ["planner", "e"] {
        let line =
            format!("servlet_calls_total{{servlet=\"{servlet}\",tool=\"t\",outcome=\"ok\"}} 1");
        assert!(metrics.contains(&line), "{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_decide_on_the_calls_of_servlets() {
    let calls = [
        with_arguments("e:t", &json!({ "x": 1 })),
        with_arguments("e:t", &json!({ "x": 2 })),
        to_read("f", "x://a"),
    ];
    let planner = planner(&calls);
    let files = [
        ("planner.wasm", &*planner),
        ("e.wasm", &*echo(&["t"])),
        ("f.wasm", &*echo_features()),
    ];
    for (rule, expected) in [
        // Only rules that name the member are about a call of a servlet.
        (
            "deny = { tools = [\"u\"], resources = [\"x://*\"] }",
            [true; 3],
        ),
        (
            "deny = { tools = [\"t\"] }\nmembers = [\"e\"]",
            [false, false, true],
        ),
        (
            "deny = { tools = [\"t\"] }\nmembers = [\"e\"]\narguments = { \"x?\" = { const = 2 } }",
            [true, false, true],
        ),
        (
            "deny = { resources = [\"x://*\"] }\nmembers = [\"f\"]",
            [true, true, false],
        ),
    ] {
        let all = "[[endpoint.web.rules]]\nallow = { tools = [\"*\"], resources = [\"*\"] }\n";
        let (web, rest) = PLANNER.split_once('\n').expect("lines");
        let config = format!("{WEB}{web}\n[[endpoint.web.rules]]\n{rule}\n{all}{rest}");
        let site = Site::start(&config, &files).await;
        let answers = answers(&site).await;
        let allowed: Vec<_> = answers
            .iter()
            .map(|one| one.get("result").is_some())
            .collect();
        assert_eq!(allowed, expected, "{rule}: {answers:?}");
        for answer in answers
            .iter()
            .filter(|answer| answer.get("result").is_none())
        {
            assert_eq!(answer["error"]["kind"], "not_allowed", "{rule}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_can_change_while_the_server_runs() {
    let planner = planner(&[to_call("e:t")]);
    let files = [
        ("planner.wasm", &*planner),
        ("e.wasm", &*echo(&["t"])),
        ("f.wasm", &*echo(&["t"])),
    ];
    let without = PLANNER.replace("tools = [\"e:*\"], ", "");
    let site = Site::start(&format!("{WEB}{without}"), &files).await;
    let error = answers(&site).await.remove(0);
    assert_eq!(error["error"]["kind"], "not_allowed");
    site.write("servlet.toml", format!("{WEB}{PLANNER}"));
    eventually("the call is allowed", async || {
        answers(&site).await[0].get("result").is_some()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_on_with_the_members_and_grants_with_which_it_began() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let request = json!({ "url": url }).to_string();
    let tools = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
    let slow = replies(&tools, &[("\"t\"", Reply::Send(&request))]);
    let planner = planner(&["slow:t", "e:said"].map(to_call));
    let files = [
        ("planner.wasm", &*planner),
        ("slow.wasm", &*slow),
        ("old.wasm", &*servlet(&["said"], "old")),
        ("new.wasm", &*servlet(&["said"], "new")),
    ];
    let config = |source: &str, granted: &str| {
        format!(
            "{WEB}bundles = [\"planner\", \"e\"]\n\
             [servlet.planner]\nsource = \"planner.wasm\"\nallow = {{ tools = [{granted}] }}\n\
             [servlet.slow]\nsource = \"slow.wasm\"\nallow = {{ hosts = [\"127.0.0.1\"] }}\n\
             [servlet.e]\nsource = \"{source}.wasm\"\n"
        )
    };
    let site = Site::start(&config("old", "\"slow:*\", \"e:*\""), &files).await;
    let call = answers(&site);
    let replaced = async {
        let (held, _) = listener.accept().await.expect("a request");
        site.write("servlet.toml", config("new", ""));
        let (way, endpoint) = WAYS[0];
        let session = site.connect(way, endpoint).await;
        eventually("the new servlet", async || {
            let said = session.call("said", json!({})).await;
            said.is_ok_and(|said| said.text() == "new")
        })
        .await;
        for answer in answers(&site).await {
            assert_eq!(answer["error"]["kind"], "not_allowed", "{answer}");
        }
        drop(held);
    };
    let (answers, ()) = tokio::join!(call, replaced);
    let said = &answers[1]["result"]["content"][0]["text"];
    assert_eq!(said, "old", "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_needs_the_scopes_of_what_the_servlet_calls() {
    let issuer = Issuer::new();
    let config = format!(
        "{WEB}auth = \"corp\"\nbundles = [\"planner\"]\n\
         [auth.corp]\nresource = \"{RESOURCE}\"\nscopes = [\"mcp\"]\n\
         jwt = [{{ issuer = \"{ISSUER}\", jwks = \"keys.json\", audience = [\"{RESOURCE}\"] }}]\n\
         [servlet.planner]\nsource = \"planner.wasm\"\nallow = {{ tools = [\"GRANT\"] }}\n\
         [servlet.e]\nsource = \"e.wasm\"\ntool.t = {{ scopes = [\"pay\"] }}\n"
    );
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let planner = planner(&[to_call("e:t")]);
    let files = [
        ("planner.wasm", &*planner),
        ("e.wasm", &*echo(&["t"])),
        ("keys.json", keys.as_bytes()),
    ];
    for (grant, is_asked_before) in [("e:t", true), ("e:*", false)] {
        let site = Site::start(&config.replace("GRANT", grant), &files).await;
        for (scopes, is_allowed) in [("mcp", false), ("mcp pay", true)] {
            let authorization = format!("Bearer {}", issuer.token(&json!({ "scope": scopes })));
            let client = site.http("web").with("authorization", &authorization);
            let response = client.ask("tools/call", json!({ "name": "t", "arguments": {} }));
            if !is_allowed && is_asked_before {
                assert_eq!(response.status(), 403);
                let challenge = response.header("www-authenticate");
                let challenge = challenge.expect("a challenge");
                assert!(challenge.contains("scope=\"mcp pay\""), "{challenge}");
                continue;
            }
            let json = response.message();
            let answer = &json["result"]["structuredContent"]["answers"][1];
            assert_eq!(answer.get("result").is_some(), is_allowed, "{json}");
            if !is_allowed {
                assert_eq!(answer["error"]["kind"], "not_allowed", "{json}");
            }
        }
    }
}

/// The response to a request of a client that has roots.
fn ask(site: &Site, method: &str, params: &Value) -> Value {
    let request = able(stateless(method, params.clone()), json!({ "roots": {} }));
    site.http("web").post(&request).message()
}

/// The same request with the answer to [`ASK`].
fn answer_to(asked: &Value, params: &Value) -> Value {
    let mut answer = params.clone();
    answer["requestState"] = asked["result"]["requestState"].clone();
    answer["inputResponses"] = json!({ "k": { "roots": [] } });
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_the_second_run_of_a_servlet_does_not_repeat_is_logged() {
    log::start();
    let mut wat = Wat::new().import(CALL_TOOL).describe(&describe(&["t"]));
    let [reads, writes] =
        ["reads:t", "writes:t"].map(|name| wat.constant(&to_call(name).to_string()));
    let asks = wat.constant(ASK);
    // The first run calls both and asks. The second one calls nothing.
    let body = format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (if (i32.eq (global.get $calls) (i32.const 1)) (then
            (drop (call $call_tool (call $block {reads})))
            (drop (call $call_tool (call $block {writes})))
            (call $output {asks})
            (return (i32.const 0))))
        (call $output {{}}) (i32.const 0)"
    );
    let planner = wat.export("call", r#"{"content":[]}"#, &body).wasm();
    let tool = json!({ "name": "t", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
    let reads = echo_as(&json!({ "tools": [tool] }).to_string());
    let files = [
        ("planner.wasm", &*planner),
        ("reads.wasm", &*reads),
        ("writes.wasm", &*echo(&["t"])),
    ];
    let config = "bundles = [\"planner\"]\n[servlet.planner]\nsource = \"planner.wasm\"\n\
        allow = { tools = [\"reads:t\", \"writes:t\"] }\n\
        limits = { instances = { max = 1 }, isolation = \"shared\" }\n\
        [servlet.reads]\nsource = \"reads.wasm\"\n[servlet.writes]\nsource = \"writes.wasm\"\n";
    let site = Site::start(&format!("{WEB}{config}"), &files).await;
    let params = json!({ "name": "t", "arguments": {} });
    let asked = ask(&site, "tools/call", &params);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let done = ask(&site, "tools/call", &answer_to(&asked, &params));
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    let other = |callee: &str| {
        format!(
            "servlet `planner` made other calls when it ran again; `{callee}` ran and its result is not used"
        )
    };
    log::says(&other("writes:t")).await;
    assert!(!log::has(&other("reads:t")), "it changes nothing");
}

/// A servlet that can call tools, and that asks before it fills in its prompt or reads its resource.
fn asks_before(export: &str, answer: &str) -> Vec<u8> {
    let resources = json!({ "resources": [{ "uri": "x:", "name": "x" }] }).to_string();
    let prompts = json!({ "prompts": [{ "name": "p" }] }).to_string();
    let output = "(call $output {}) (i32.const 0)";
    let wat = Wat::new().import(CALL_TOOL).describe(&describe(&[]));
    wat.answer("{}")
        .export("list_resources", &resources, output)
        .export("list_prompts", &prompts, output)
        .each(export, &[ASK, answer])
        .wasm()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_prompt_or_resource_that_may_call_tools_is_for_one_use() {
    let cases = [
        (
            "prompts/get",
            json!({ "name": "p" }),
            asks_before("get_prompt", r#"{"messages":[]}"#),
        ),
        (
            "resources/read",
            json!({ "uri": "x:" }),
            asks_before("read_resource", r#"{"contents":[{"uri":"x:","text":"x"}]}"#),
        ),
    ];
    for (method, params, wasm) in cases {
        let config = "[servlet.a]\nsource = \"a.wasm\"\nallow = { tools = [\"e:*\"] }\n\
            limits = { instances = { max = 1 }, isolation = \"shared\" }\n\
            [servlet.e]\nsource = \"e.wasm\"\n";
        let files = [("a.wasm", &*wasm), ("e.wasm", &*echo(&["t"]))];
        let site = Site::start(&format!("{WEB}{config}"), &files).await;
        let asked = ask(&site, method, &params);
        let answer = answer_to(&asked, &params);
        let done = ask(&site, method, &answer);
        assert_eq!(done["result"]["resultType"], "complete", "{method}: {done}");
        let again = ask(&site, method, &answer);
        let message = "this answer was used already; send the request again without `requestState`";
        assert_eq!(again["error"]["message"], message, "{method}: {again}");
    }
}
