//! Virtual tools of a configuration, as clients of both protocol generations see them.

use std::fs;

use mcp_servlet_host::Host;
use mcp_servlet_server::config::{Config, ConfigError};
use serde_json::{Value, json};

use crate::{
    client::{Served, stateless},
    pipe,
    support::Wat,
};

const DESCRIPTION: &str = r#"{"tools":[{"name":"search","description":"Searches.","inputSchema":{"type":"object",
    "properties":{"query":{"type":"string"},"limit":{"type":"integer"},"key":{"type":"string"}},"required":["query","key"]}}]}"#;

/// A servlet whose tool returns its request as structured content.
fn echo() -> Wat {
    let body = "(local $head i64) (local $to i64) (local $i i64) (local $n i64)
        (local.set $head (call $block {}))
        (local.set $n (call $input_length))
        (local.set $to (call $alloc (i64.add (local.get $n) (i64.const SIZE))))
        (block $done (loop $next
            (br_if $done (i64.ge_u (local.get $i) (i64.const HEAD)))
            (call $store (i64.add (local.get $to) (local.get $i))
                (call $load (i64.add (local.get $head) (local.get $i))))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br $next)))
        (local.set $i (i64.const 0))
        (block $done (loop $next
            (br_if $done (i64.ge_u (local.get $i) (local.get $n)))
            (call $store (i64.add (local.get $to) (i64.add (local.get $i) (i64.const HEAD)))
                (call $input (local.get $i)))
            (local.set $i (i64.add (local.get $i) (i64.const 1)))
            (br $next)))
        (call $store (i64.add (local.get $to) (i64.add (local.get $n) (i64.const HEAD))) (i32.const 125))
        (call $output_set (local.get $to) (i64.add (local.get $n) (i64.const SIZE)))
        (i32.const 0)";
    let head = r#"{"content":[],"structuredContent":"#;
    let body = body.replace("HEAD", &head.len().to_string());
    let body = body.replace("SIZE", &(head.len() + 1).to_string());
    Wat::new().describe(DESCRIPTION).export("call", head, &body)
}

const BUNDLE: &str = r#"
[servlet.web]
source = "a.wasm"

[bundle.ops.tool.find]
handler = "web:search"
description = "Finds pages."
inputs = { query = "${{ request.arguments.text.trim() }}", limit = "${{ request.arguments.?limit }}", key = "s3cret-key" }
arguments = { type = "object", properties = { text = { type = "string" }, limit = { type = "integer" } }, required = ["text"], additionalProperties = false }
[bundle.ops.tool.find.result]
content = [{ type = "text", text = "${{ result.structuredContent.params.arguments.query }} for ${{ request.name }}" }]
structuredContent = { limit = "${{ result.structuredContent.params.arguments.?limit }}", has_key = "${{ has(result.structuredContent.params.arguments.key) }}" }

[bundle.ops.tool.fixed]
handler = "web:search"
set = { key = "s3cret-key" }
"#;

/// A folder with the configuration and its module.
fn folder(config: &str, wasm: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("servlet.toml"), config).expect("a file");
    fs::write(folder.path().join("a.wasm"), wasm).expect("a file");
    folder
}

fn load(config: &str, wasm: &[u8]) -> Result<Host, ConfigError> {
    let folder = folder(config, wasm);
    let config = Config::read(&folder.path().join("servlet.toml"))?;
    Ok(config.load(None)?.host)
}

fn host() -> Host {
    load(BUNDLE, &echo().wasm()).expect("a configuration")
}

fn find(arguments: Value) -> Value {
    json!({ "name": "find", "arguments": arguments })
}

/// What every client gets for these calls.
fn check(find: &Value, invalid: &Value, fixed: &Value) {
    assert_eq!(
        find["content"][0]["text"], "rust for find",
        "{find} {fixed}"
    );
    assert_eq!(
        find["structuredContent"],
        json!({ "limit": 3, "has_key": true })
    );
    assert_eq!(invalid["isError"], true, "{invalid}");
    let text = invalid["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.starts_with("invalid arguments: `/text` must match"),
        "{text}"
    );
    let arguments = &fixed["structuredContent"]["params"]["arguments"];
    assert_eq!(arguments, &json!({ "query": "q", "key": "s3cret-key" }));
}

const CALLS: [fn() -> Value; 3] = [
    || find(json!({ "text": " rust ", "limit": 3 })),
    || find(json!({ "text": 42 })),
    || json!({ "name": "fixed", "arguments": { "query": "q" } }),
];

#[test]
fn clients_over_http_list_and_call_virtual_tools() {
    let served = Served::start(host());
    let list = served.ask("tools/list", json!({})).message();
    let tools = list["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["search", "find", "fixed"]);
    assert_eq!(tools[1]["description"], "Finds pages.");
    assert_eq!(tools[2]["description"], "Searches.");
    assert_eq!(tools[2]["inputSchema"]["required"], json!(["query"]));
    assert!(!list.to_string().contains("s3cret"), "{list}");
    let results = CALLS.map(|call| {
        let message = served.ask("tools/call", call()).message();
        assert!(message["error"].is_null(), "{message}");
        message["result"].clone()
    });
    check(&results[0], &results[1], &results[2]);

    let session = served.open();
    let results = CALLS.map(|call| {
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call() });
        served.in_session(&session, &request).message()["result"].clone()
    });
    check(&results[0], &results[1], &results[2]);
}

#[tokio::test]
async fn clients_over_a_pipe_call_virtual_tools() {
    let requests = CALLS.map(|call| json!({ "method": "tools/call", "params": call() }));
    let answers = pipe::talk(host(), &requests).await;
    let results: Vec<_> = answers[1..]
        .iter()
        .map(|answer| &answer["result"])
        .collect();
    check(results[0], results[1], results[2]);

    let lines = CALLS.map(|call| {
        let line = stateless("tools/call", call());
        serde_json::from_str::<Value>(&line).expect("JSON")
    });
    for (number, line) in lines.iter().enumerate() {
        let answers = pipe::exchange(host(), std::slice::from_ref(line)).await;
        let result = &answers[0]["result"];
        match number {
            0 => assert_eq!(result["content"][0]["text"], "rust for find", "{result}"),
            1 => assert_eq!(result["isError"], true),
            _ => assert_eq!(
                result["structuredContent"]["params"]["arguments"]["key"],
                "s3cret-key"
            ),
        }
    }
}

#[test]
fn a_fixed_argument_is_not_taken_from_clients() {
    let served = Served::start(host());
    let call = json!({ "name": "fixed", "arguments": { "query": "q", "key": "mine" } });
    let result = served.ask("tools/call", call).message();
    assert_eq!(result["result"]["isError"], true, "{result}");
    assert_eq!(
        result["result"]["content"][0]["text"],
        "invalid arguments: `/key` is unknown"
    );
}

#[test]
fn failures_become_the_errors_of_catches() {
    let trap = Wat::new()
        .describe(DESCRIPTION)
        .export("call", "", "unreachable");
    let config = format!(
        "{BUNDLE}[[bundle.ops.tool.fixed.catches]]\nkind = \"trap\"\nerror = {{ code = -32001, message = \"broken: ${{{{ error.code }}}}\", data = {{ again = false }} }}\n"
    );
    let served = Served::start(load(&config, &trap.wasm()).expect("a configuration"));
    let error = served.ask("tools/call", CALLS[2]()).message()["error"].clone();
    assert_eq!(error["code"], -32001, "{error}");
    assert_eq!(error["message"], "broken: TRAP");
    assert_eq!(error["data"]["again"], false);
    let error = served.ask("tools/call", CALLS[0]()).message()["error"].clone();
    assert_eq!(error["code"], -32603, "{error}");
    assert_eq!(error["data"]["servlet"], "web");
}

#[test]
fn a_result_that_is_no_result_is_an_error() {
    let config = BUNDLE.replace("[{ type = \"text\", text = \"${{ result.structuredContent.params.arguments.query }} for ${{ request.name }}\" }]", "\"${{ result.structuredContent }}\"");
    let served = Served::start(load(&config, &echo().wasm()).expect("a configuration"));
    let error = served.ask("tools/call", CALLS[0]()).message()["error"].clone();
    assert_eq!(
        (error["code"].as_i64(), error["data"]["code"].as_str()),
        (Some(-32603), Some("RESULT_INVALID"))
    );
    assert!(!error.to_string().contains("s3cret"), "{error}");
}

#[test]
fn tools_that_do_not_fit_their_servlets_are_problems_of_the_file() {
    for (change, expected) in [
        (
            ("web:search\"\nset", "web:serch\"\nset"),
            ":15:11: servlet `web` has no tool `serch`; there is `search`",
        ),
        (
            ("set = { key", "set = { kee = 1, key"),
            ":16:15: `web:search` has no argument `kee`; it has `query`, `limit` and `key`",
        ),
        (
            ("set = { key = \"s3cret-key\"", "set = { key = 5"),
            ":16:15: `web:search` takes {\"type\":\"string\"} for `key`, found an integer",
        ),
        (
            (
                "source = \"a.wasm\"",
                "source = \"a.wasm\"\ntools = { prefix = \"never\" }",
            ),
            "",
        ),
    ] {
        let config = BUNDLE.replace(change.0, change.1);
        match load(&config, &echo().wasm()) {
            Err(error) => assert!(
                !expected.is_empty() && error.to_string().contains(expected),
                "{error}"
            ),
            Ok(_) => assert_eq!(expected, "", "{config}"),
        }
    }
    let taken = BUNDLE.replace("tool.find", "tool.search").replace(
        "source = \"a.wasm\"",
        "source = \"a.wasm\"\ntools = { prefix = \"never\" }",
    );
    let error = load(&taken, &echo().wasm())
        .expect_err("two tools of one name")
        .to_string();
    assert!(
        error.contains("has a tool `search` as well: give that servlet a prefix"),
        "{error}"
    );
    let moved =
        load(&BUNDLE.replace("tool.find", "tool.search"), &echo().wasm()).expect("a configuration");
    let names: Vec<_> = moved.tools().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["web_search", "search", "fixed"]);
}

/// The configuration of the guide, with a servlet as it describes it. Its complete example is tested with endpoints.
#[test]
fn the_guide_has_a_configuration_that_runs() {
    let guide = include_str!("../../../../../docs/bundles.md");
    let (guide, _) = guide.split_once("## A complete example").expect("its end");
    let blocks = guide.split("```toml\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().expect("a block"));
    let config = blocks
        .collect::<Vec<_>>()
        .join("\n")
        .replace("web.wasm", "a.wasm");
    let property = json!({ "type": "string" });
    let tool = json!({
        "name": "search",
        "inputSchema": { "type": "object", "properties": { "query": property, "site": property, "key": property } },
        "outputSchema": { "type": "object", "properties": { "total": {}, "pages": {} } },
    });
    let result = r#"{"content":[],"structuredContent":{"total":1,"pages":[{"title":"A"}]}}"#;
    let fault =
        "slow down\nmcp-fault: {\"code\":-32010,\"data\":{\"code\":\"RATE_LIMITED\",\"retry\":30}}";
    let description = json!({ "tools": [tool] }).to_string();
    let served = |wasm: &Wat| {
        let folder = folder(&config, &wasm.wasm());
        // The variables are empty for a server elsewhere.
        let config = Config::read_for_elsewhere(&folder.path().join("servlet.toml"));
        let loaded = config
            .expect("a configuration")
            .load(None)
            .expect("servlets");
        Served::start(loaded.host)
    };
    let call = json!({ "name": "find", "arguments": { "query": "q" } });
    let answers = served(&Wat::new().describe(&description).answer(result));
    let result = answers.ask("tools/call", call.clone()).message()["result"].clone();
    assert_eq!(result["content"][0]["text"], "1 pages for q", "{result}");
    assert_eq!(result["structuredContent"], json!({ "pages": ["A"] }));
    let fails =
        Wat::new()
            .describe(&description)
            .export("call", fault, "(call $error {}) (i32.const 1)");
    let error = served(&fails).ask("tools/call", call).message()["error"].clone();
    assert_eq!(
        error,
        json!({ "code": -32001, "message": "busy, try again", "data": { "retry": 30 } })
    );
}
