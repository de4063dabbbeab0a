//! Endpoints with a search: clients find tools and call them through others.

use mcp_servlet_client::{CallResult, Event, Options, Session};
use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::message::{able, stateless};

use crate::{
    client::{Oslo, reported},
    log,
    site::{OLD, PIPE, Site, WAYS, WEB, Way, next_event, tools},
    support::Wat,
    virtual_calls::reporting,
    wasm::{Reply, echo_after, echo_as, replies, servlet},
};

const SEARCH: &str = "tools = { search = true, always = [\"gr*\"] }\n";
const LISTED: [&str; 4] = ["find_tools", "call_read_only_tool", "call_tool", "greet"];

fn tool(name: &str, description: &str, is_read_only: bool) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": { "repository": { "type": "string" }, "page": { "type": "integer" } },
            "required": ["repository"],
        },
        "annotations": { "readOnlyHint": is_read_only },
    })
}

/// A servlet whose tools return their input.
fn github() -> Vec<u8> {
    let greet = json!({ "name": "greet", "inputSchema": { "type": "object" } });
    let tools = json!([
        tool(
            "list_issues",
            "\n  Lists issues of a repository.\nThe newest first.",
            true
        ),
        tool("create_issue", "Creates an issue.", false),
        tool("close_issue", "Closes an issue of a repository.", false),
        greet,
    ]);
    echo_as(&json!({ "tools": tools }).to_string())
}

const FILES: &str =
    "[servlet.gh]\nsource = \"gh.wasm\"\n[servlet.files]\nsource = \"files.wasm\"\n";

/// Endpoints of all kinds with a search and these keys.
async fn site(keys: &str, more: &str) -> Site {
    let keys = format!("{SEARCH}{keys}");
    let config = format!("{WEB}{keys}{OLD}{keys}{PIPE}{keys}{FILES}{more}");
    let files = servlet(&["read_file", "delete_file"], "done");
    Site::start(&config, &[("gh.wasm", &github()), ("files.wasm", &files)]).await
}

async fn find(session: &Session, query: &str) -> CallResult {
    let found = session.call("find_tools", json!({ "query": query })).await;
    found.expect("a result")
}

async fn call(session: &Session, via: &str, name: &str, arguments: Value) -> CallResult {
    let params = json!({ "name": name, "arguments": arguments });
    session.call(via, params).await.expect("a result")
}

/// The structured content of a search.
fn structured(found: &CallResult) -> Value {
    json!(found.raw)["structuredContent"].clone()
}

/// What a servlet that returns its input got, without what differs between two requests.
fn input(result: &CallResult) -> Value {
    let mut params = structured(result)["params"].clone();
    if let Some(meta) = params["_meta"].as_object_mut() {
        meta.retain(|key, _| !["progressToken", "mcp-servlet/request"].contains(&&**key));
    }
    params
}

fn names(found: &CallResult) -> Vec<String> {
    let structured = structured(found);
    let tools = structured["tools"].as_array().expect("tools").iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_replaces_the_list() {
    let site = site("", "").await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, LISTED, "{way:?}");
        let found = find(&session, "list the issues of repositories").await;
        let schema = tool("", "", true)["inputSchema"].to_string();
        let expected = format!(
            "3 of 6 tools match \"list the issues of repositories\":\n\
             - list_issues (read-only): Lists issues of a repository.… (17 more characters)\n\
             - close_issue: Closes an issue of a repository.\n\
             - create_issue: Creates an issue.\n\
             Arguments of list_issues: {schema}\n\
             Call a read-only tool with call_read_only_tool, others with call_tool."
        );
        assert_eq!(found.text(), expected, "{way:?}");
        let expected = json!({
            "tools": [
                tool("list_issues", "\n  Lists issues of a repository.\nThe newest first.", true),
                tool("close_issue", "Closes an issue of a repository.", false),
                tool("create_issue", "Creates an issue.", false),
            ],
            "total": 3,
        });
        assert_eq!(structured(&found), expected, "{way:?}");
        let servers = "servers: gh (4 tools), files (2 tools)";
        for (query, text, total) in [
            (
                "weather",
                format!("no tool matches \"weather\"; {servers}"),
                0,
            ),
            (" ", format!("6 tools; {servers}"), 6),
        ] {
            let found = find(&session, query).await;
            assert_eq!(found.text(), text, "{way:?}");
            assert_eq!(structured(&found), json!({ "tools": [], "total": total }));
        }
        let params = json!({ "query": "issues", "most": 1 });
        let found = session.call("find_tools", params).await.expect("a result");
        assert!(
            found
                .text()
                .starts_with("3 of 6 tools match \"issues\"; the best 1:\n- ")
        );
        assert_eq!(names(&found).len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_schema_is_cut_in_the_text_only() {
    let schema = json!({ "type": "object", "description": "x".repeat(5_000) });
    let tools = json!({ "tools": [{ "name": "big", "inputSchema": schema }] });
    let config = format!("{WEB}{SEARCH}[servlet.s]\nsource = \"s.wasm\"\n");
    let site = Site::start(&config, &[("s.wasm", &echo_as(&tools.to_string()))]).await;
    let (way, endpoint) = WAYS[0];
    let session = site.connect(way, endpoint).await;
    let found = find(&session, "big").await;
    let text = schema.to_string();
    let more = text.len() - 4_000;
    let cut = &text[..4_000];
    let expected = format!("Arguments of big: {cut}… ({more} more characters)\n");
    assert!(found.text().contains(&expected), "{}", found.text());
    assert_eq!(structured(&found)["tools"][0]["inputSchema"], schema);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_through_a_search_is_the_call_of_the_tool() {
    let site = site("", "").await;
    let arguments = json!({ "repository": "a/b" });
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let direct = session.call("list_issues", arguments.clone()).await;
        let direct = input(&direct.expect("a result"));
        assert_eq!(direct["arguments"], arguments, "{way:?}");
        for via in ["call_tool", "call_read_only_tool"] {
            for arguments in [arguments.clone(), arguments.to_string().into()] {
                let called = call(&session, via, "list_issues", arguments).await;
                assert_eq!(input(&called), direct, "{way:?} {via}");
            }
        }
        let created = call(&session, "call_tool", "create_issue", arguments.clone()).await;
        assert!(!created.is_error, "{way:?}");
        for name in ["greet", "read_file"] {
            let direct = session.call(name, Value::Null).await.expect("a result");
            let called = session.call("call_tool", json!({ "name": name })).await;
            let called = called.expect("a result");
            if name == "read_file" {
                assert_eq!(called.raw.get(), direct.raw.get(), "{way:?}");
            } else {
                assert_eq!(input(&called)["name"], input(&direct)["name"], "{way:?}");
            }
        }
    }
}

/// Calls through a search that fail, and how their errors begin.
fn failures() -> Vec<(&'static str, Value, String)> {
    let schema = tool("", "", true)["inputSchema"].to_string();
    vec![
        (
            "call_read_only_tool",
            json!({ "name": "create_issue", "arguments": { "repository": "a" } }),
            "create_issue is not declared read-only; use call_tool".to_owned(),
        ),
        (
            // Absent means no.
            "call_read_only_tool",
            json!({ "name": "read_file" }),
            "read_file is not declared read-only; use call_tool".to_owned(),
        ),
        (
            "call_tool",
            json!({ "name": "list_isues" }),
            "there is no tool \"list_isues\"; there is \"list_issues\"".to_owned(),
        ),
        (
            "call_tool",
            json!({ "name": "zzz" }),
            "there is no tool \"zzz\"".to_owned(),
        ),
        (
            // A call does not call itself.
            "call_tool",
            json!({ "name": "call_tool", "arguments": { "name": "greet" } }),
            "there is no tool \"call_tool\"".to_owned(),
        ),
        (
            "call_tool",
            json!({ "name": "list_issues", "arguments": { "repository": 7 } }),
            format!(
                "invalid arguments: `/repository` must match {{\"type\":\"string\"}}, got 7\n\
                 valid arguments: {{\"repository\":\"text\",\"page\":1}}\nArguments of list_issues: {schema}"
            ),
        ),
        (
            "call_tool",
            json!({ "name": "list_issues", "repository": "a/b" }),
            "invalid arguments".to_owned(),
        ),
        (
            "call_tool",
            json!({ "name": "list_issues", "arguments": "{\"repository\":" }),
            "invalid arguments: `/arguments` must match".to_owned(),
        ),
        (
            "find_tools",
            json!({ "query": "x", "most": 21 }),
            "invalid arguments: `/most`".to_owned(),
        ),
        (
            "find_tools",
            json!({}),
            "invalid arguments: `/query` is missing".to_owned(),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_say_how_to_call() {
    let site = site("", "").await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for (via, params, expected) in failures() {
            let result = session.call(via, params.clone()).await;
            let result = result.expect("a result");
            assert!(result.is_error, "{way:?} {params}");
            let text = result.text();
            assert!(text.starts_with(&expected), "{way:?} {params}: {text}");
        }
    }
}

/// Denies what only others may use.
const RULES: &str = "rules = [\
    { deny = [\"create_*\"], arguments = { repository = { const = \"secret\" } } },\
    { deny = [\"close_*\"] }, { deny = { tools = [\"*\"] }, members = [\"files\"] }, { allow = [\"*\"] }]\n";

#[tokio::test(flavor = "multi_thread")]
async fn rules_see_what_is_called() {
    let site = site(RULES, "").await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, LISTED, "{way:?}");
        let found = find(&session, "close issues").await;
        assert_eq!(names(&found), ["create_issue", "list_issues"], "{way:?}");
        assert!(found.text().starts_with("2 of 3 tools match"), "{way:?}");
        for query in ["", "delete", "delete_file"] {
            let found = find(&session, query).await;
            assert!(found.text().ends_with("; servers: gh (3 tools)"), "{way:?}");
            assert_eq!(names(&found), [""; 0]);
        }
        for (hidden, unknown) in [("close_issue", "reopen_pull"), ("read_file", "reap_file")] {
            let arguments = json!({ "repository": "a" });
            let denied = call(&session, "call_tool", hidden, arguments.clone()).await;
            let none = call(&session, "call_tool", unknown, arguments).await;
            assert!(denied.is_error && none.is_error, "{way:?}");
            let text = denied.text();
            assert!(
                text.starts_with(&format!("there is no tool \"{hidden}\"")),
                "{text}"
            );
            assert!(!text.ends_with(&format!("there is \"{hidden}\"")), "{text}");
        }
        for (repository, is_error) in [("open", false), ("secret", true)] {
            let arguments = json!({ "repository": repository });
            let direct = session.call("create_issue", arguments.clone()).await;
            let direct = direct.expect("a result");
            for arguments in [arguments.clone(), arguments.to_string().into()] {
                let called = call(&session, "call_tool", "create_issue", arguments).await;
                assert_eq!(called.is_error, is_error, "{way:?} {repository}");
                if is_error {
                    assert_eq!(called.raw.get(), direct.raw.get(), "{way:?}");
                } else {
                    assert_eq!(input(&called), input(&direct), "{way:?}");
                }
            }
        }
    }
}

/// Calls a tool of a search at the endpoint `web`, as one of two callers.
fn ask(site: &Site, key: &str, tool: &str, arguments: Value, capabilities: Value) -> (u16, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    send(site, key, "tools/call", params, capabilities)
}

fn send(site: &Site, key: &str, method: &str, params: Value, capabilities: Value) -> (u16, Value) {
    let request = able(stateless(method, params), capabilities);
    let answer = site.http("web").with("x-api-key", key).post(&request);
    (answer.status(), answer.message())
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_are_those_of_the_tool_that_is_called() {
    let digest = |key: &str| Sha256::of(key.as_bytes());
    let key = |name: &str, scopes: &str| {
        let digest = digest(name);
        format!(
            "{{ name = \"{name}\", sha256 = \"{digest}\", header = \"x-api-key\", scopes = [{scopes}] }}"
        )
    };
    let (ann, bob) = (key("ann", "\"pay\", \"audit\""), key("bob", ""));
    let config = format!(
        "{WEB}{SEARCH}auth = \"corp\"\nrules = [{{ deny = [\"hide\"] }}, {{ allow = [\"*\"] }}]\n\
         [auth.corp]\nkey = [{ann}, {bob}]\n[servlet.bank]\nsource = \"bank.wasm\"\n\
         tool.pay = {{ scopes = [\"pay\", \"audit\"] }}\ntool.hide = {{ scopes = [\"pay\"] }}\n"
    );
    let bank = servlet(&["pay", "hide"], "paid");
    let site = Site::start(&config, &[("bank.wasm", &bank)]).await;
    let call = |key: &str, name: &str| {
        let (status, answer) = ask(&site, key, "call_tool", json!({ "name": name }), json!({}));
        assert_eq!(status, 200, "{answer}");
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().expect("text");
        (result["isError"] == true, text.to_owned())
    };
    assert_eq!(call("ann", "pay"), (false, "paid".to_owned()));
    let text = "a required scope is missing: pay needs audit, pay".to_owned();
    assert_eq!(call("bob", "pay"), (true, text));
    let unknown = "there is no tool \"hide\"".to_owned();
    assert_eq!(call("bob", "hide"), (true, unknown));
    // By its own name, the status says so.
    let (status, _) = ask(&site, "bob", "pay", json!({}), json!({}));
    assert_eq!(status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_through_a_search_can_be_a_task() {
    let slow =
        json!({ "name": "slow", "inputSchema": {}, "execution": { "taskSupport": "required" } });
    let wat = Wat::new().describe(&json!({ "tools": [slow] }).to_string());
    let wasm = wat
        .answer(r#"{"content":[{"type":"text","text":"done"}]}"#)
        .wasm();
    let config = |rules: &str| format!("{WEB}{SEARCH}{rules}[servlet.s]\nsource = \"s.wasm\"\n");
    let site = Site::start(&config(""), &[("s.wasm", &wasm)]).await;
    let params = json!({ "name": "slow", "arguments": {} });
    let (_, refused) = ask(&site, "", "call_tool", params.clone(), json!({}));
    let message = refused["error"]["message"].as_str().expect("an error");
    assert!(
        message.starts_with("`slow` only runs as a task"),
        "{message}"
    );
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let (_, task) = ask(&site, "", "call_tool", params, tasks.clone());
    let id = &task["result"]["taskId"];
    assert!(id.is_string(), "{task}");
    let get = || {
        send(
            &site,
            "",
            "tasks/get",
            json!({ "taskId": id }),
            tasks.clone(),
        )
        .1
    };
    eventually("the task ends", async || {
        get()["result"]["result"]["content"][0]["text"] == "done"
    })
    .await;
    // The task is one of the tool that was called.
    site.write(
        "servlet.toml",
        config("rules = [{ deny = [\"slow\"] }, { allow = [\"*\"] }]\n"),
    );
    eventually("the rule applies", async || get()["error"].is_object()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_come_through_a_search() {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let params = json!({ "mode": "form", "message": "Which city?", "requestedSchema": schema });
    let asks = json!({
        "resultType": "input_required",
        "inputRequests": { "q": { "method": "elicitation/create", "params": params } },
        "requestState": "s",
    });
    let tools = json!({ "tools": [{ "name": "weather", "inputSchema": { "type": "object" } }] });
    let wasm = echo_after(&asks.to_string(), &tools.to_string());
    let limits = "limits = { instances = { max = 1 }, isolation = \"shared\" }\n";
    let config = format!(
        "{WEB}{SEARCH}{OLD}{SEARCH}{PIPE}{SEARCH}[servlet.w]\nsource = \"w.wasm\"\n{limits}"
    );
    let site = Site::start(&config, &[("w.wasm", &wasm)]).await;
    for (way, endpoint) in WAYS {
        let options = Options::new().answers(Oslo);
        let session = site.connect_with(way, endpoint, options).await;
        let result = call(&session, "call_tool", "weather", json!({})).await;
        let input = &json!(result.raw)["structuredContent"]["params"];
        assert_eq!(input["name"], "weather", "{way:?}");
        let answer = &input["inputResponses"]["q"]["content"];
        assert_eq!(*answer, json!({ "city": "Oslo" }), "{way:?}");
        assert_eq!(input["requestState"], "s", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_log_messages_come_through_a_search() {
    let config =
        format!("{WEB}{SEARCH}{OLD}{SEARCH}{PIPE}{SEARCH}[servlet.f]\nsource = \"f.wasm\"\n");
    let site = Site::start(&config, &[("f.wasm", &reporting())]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let call = ("call_tool", json!({ "name": "t" }));
        let text = reported(&session, call, "f", &format!("{way:?}")).await;
        assert_eq!(text, "done", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_and_the_log_name_the_tool_that_is_called() {
    log::start();
    let fails = json!([{ "name": "traps", "inputSchema": { "type": "object" } }]);
    let wasm = replies(&fails, &[(r#""traps""#, Reply::Trap)]);
    let config = format!("{WEB}{SEARCH}[servlet.found]\nsource = \"found.wasm\"\n");
    let site = Site::start(&config, &[("found.wasm", &wasm)]).await;
    let session = site.connect(Way::HttpModern, "web").await;
    let called = session.call("call_tool", json!({ "name": "traps" })).await;
    called.expect_err("it traps");
    find(&session, "traps").await;
    let metrics = site.service.metrics();
    let calls = metrics
        .lines()
        .filter(|line| line.starts_with("servlet_calls_total"));
    let calls: Vec<_> = calls.collect();
    assert_eq!(
        calls,
        [r#"servlet_calls_total{servlet="found",tool="traps",outcome="trap"} 1"#]
    );
    log::says(r#"call{servlet="found" tool="traps" endpoint="web" via="call_tool" "#).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_tools_that_are_listed_change_the_list() {
    let config = |keys: &str| format!("{WEB}{keys}[servlet.a]\nsource = \"a.wasm\"\n");
    let files = [("a.wasm", &*servlet(&["greet", "old"], "a"))];
    let site = Site::start(&config(SEARCH), &files).await;
    let session = site.connect(Way::HttpLegacy, "web").await;
    let mut events = session.events();
    assert_eq!(tools(&session).await, LISTED);
    site.write("a.wasm", servlet(&["greet", "new"], "a"));
    eventually("the new tool is found", async || {
        names(&find(&session, "new").await) == ["new"]
    })
    .await;
    assert_eq!(names(&find(&session, "old").await), [""; 0]);
    site.has_sent_nothing("web", &mut events).await;
    site.write("a.wasm", servlet(&["grow", "new"], "a"));
    assert_eq!(next_event(&mut events).await, Event::ToolsChanged);
    assert_eq!(tools(&session).await, [&LISTED[..3], &["grow"]].concat());
    // The search itself changes at once, too.
    site.write("servlet.toml", config(""));
    assert_eq!(next_event(&mut events).await, Event::ToolsChanged);
    assert_eq!(tools(&session).await, ["grow", "new"]);
    let unknown = session.call("find_tools", json!({ "query": "x" })).await;
    assert_eq!(unknown.expect_err("unknown").code(), Some(-32602));
}

#[tokio::test(flavor = "multi_thread")]
async fn virtual_tools_are_found_by_their_bundle() {
    let bundle = "[bundle.ops.tool.triage]\ndescription = \"Sorts what came in.\"\n\
        handler = \"gh:list_issues\"\ninputs = { repository = \"a/b\" }\n";
    let site = site("", bundle).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        for query in ["ops", "triage", "sort"] {
            assert_eq!(names(&find(&session, query).await), ["triage"], "{way:?}");
        }
        let text = find(&session, "").await.text();
        let servers = "servers: gh (4 tools), files (2 tools), ops (1 tool)";
        assert_eq!(text, format!("7 tools; {servers}"), "{way:?}");
        let called = call(&session, "call_read_only_tool", "triage", json!({})).await;
        let inner = json!({ "repository": "a/b" });
        assert_eq!(input(&called)["arguments"], inner, "{way:?}: {called:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_tool_does_not_make_another_one_read_only() {
    let claims =
        "[bundle.ops.tool.peek]\nhandler = \"gh:greet\"\nannotations = { readOnlyHint = true }\n";
    let site = site("", claims).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let arguments = json!({ "repository": "r" });
        let called = call(&session, "call_read_only_tool", "peek", arguments).await;
        assert!(called.is_error, "{way:?}: {called:?}");
        let text = "peek is not declared read-only; use call_tool";
        assert_eq!(called.text(), text, "{way:?}");
    }
}
