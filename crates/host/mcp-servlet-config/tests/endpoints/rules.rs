//! Rules: what they deny does not exist for clients.

use std::{pin::pin, task::Poll};

use futures_util::poll;
use mcp_servlet_client::{Event, Events, Session};
use mcp_servlet_server::Sha256;
use puppet::eventually;
use serde_json::{Value, json};
use wire::{
    Answer,
    message::{able, stateless},
};

use crate::{
    issuer::{ISSUER, Issuer, RESOURCE},
    site::{OLD, PIPE, Site, WAYS, WEB, Way, next_event, tools},
    support::Wat,
    wasm::{echo_as, servlet},
};

/// A servlet with everything that rules are about. Each item has a secret twin.
fn files() -> Vec<u8> {
    let text = json!({ "type": "string" });
    let tool = |name: &str| {
        json!({
            "name": name,
            "inputSchema": { "type": "object", "properties": { "a": text } },
            "annotations": { "readOnlyHint": name == "list_files" },
        })
    };
    let tools = ["list_files", "open_file", "secret_file"].map(tool);
    let prompt = |name: &str| json!({ "name": name, "arguments": [{ "name": "a" }] });
    let list = |member: &str, entries: Value| json!({ member: entries }).to_string();
    let resource = |uri: &str| json!({ "uri": uri, "name": uri });
    let template = |uri: &str| json!({ "uriTemplate": uri, "name": uri });
    let lists = [
        (
            "list_prompts",
            list(
                "prompts",
                ["open_prompt", "secret_prompt"].map(prompt).into(),
            ),
        ),
        (
            "list_resources",
            list(
                "resources",
                ["docs://open", "docs://secret"].map(resource).into(),
            ),
        ),
        (
            "list_resource_templates",
            list(
                "resourceTemplates",
                ["docs://open/{id}", "docs://secret/{id}"]
                    .map(template)
                    .into(),
            ),
        ),
        (
            "read_resource",
            list("contents", json!([{ "uri": "docs://x", "text": "text" }])),
        ),
        ("get_prompt", list("messages", json!([]))),
        ("complete", list("completion", json!({ "values": ["v"] }))),
    ];
    let wat = Wat::new().describe(&list("tools", tools.into()));
    let wat = wat.answer(r#"{"content":[]}"#);
    let wat = lists.iter().fold(wat, |wat, (export, output)| {
        wat.export(export, output, "(call $output {}) (i32.const 0)")
    });
    wat.wasm()
}

/// Denies what is secret, and allows everything else.
const NO_SECRETS: &str = "rules = [\
    { deny = { tools = [\"secret_*\"], prompts = [\"secret_*\"], resources = [\"docs://secret*\"] } },\
    { allow = { tools = [\"*\"], prompts = [\"*\"], resources = [\"*\"] } }]\n";

const FILES: &str = "[servlet.files]\nsource = \"files.wasm\"\n";

async fn site(config: &str) -> Site {
    Site::start(config, &[("files.wasm", &files())]).await
}

/// What a client gets for all that it can do with an item of this name.
async fn outcomes(session: &Session, name: &str) -> Vec<(&'static str, Result<Value, String>)> {
    let (prompt, uri) = (format!("{name}_prompt"), format!("docs://{name}"));
    let template = format!("docs://{name}/{{id}}");
    let called = session.call(&format!("{name}_file"), json!({})).await;
    let filled = session.prompt(&prompt, [("a", "b")]).await;
    let mut all = vec![
        ("call", called.map(|result| json!(result.raw))),
        ("prompt", filled.map(|result| json!(result.raw))),
    ];
    for uri in [uri, format!("docs://{name}/1")] {
        let read = session.read_result(&uri).await;
        all.push(("read", read.map(|result| json!(result.raw))));
    }
    let completed = [
        session.complete_prompt(&prompt, "a", "", Value::Null).await,
        session
            .complete_template(&template, "id", "", Value::Null)
            .await,
    ];
    let completed = completed.map(|result| result.map(|result| json!(result.values)));
    all.extend(completed.map(|result| ("complete", result)));
    let all = all.into_iter();
    all.map(|(what, result)| (what, result.map_err(|error| error.to_string())))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_item_is_like_one_that_does_not_exist() {
    let site = site(&format!(
        "{WEB}{NO_SECRETS}{OLD}{NO_SECRETS}{PIPE}{NO_SECRETS}{FILES}"
    ))
    .await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let lists = json!(session.lists().await.expect("lists"));
        assert!(!lists.to_string().contains("secret"), "{way:?}: {lists}");
        for (what, result) in outcomes(&session, "open").await {
            assert!(result.is_ok(), "{way:?}, {what}: {result:?}");
        }
        let denied = outcomes(&session, "secret").await;
        let unknown = outcomes(&session, "sesame").await;
        for ((what, denied), (_, unknown)) in denied.into_iter().zip(unknown) {
            let denied = denied.expect_err(what);
            if what == "read" {
                // The servlet has every resource, so the error is not its own.
                assert!(
                    denied.starts_with("resource not found: docs://secret"),
                    "{denied}"
                );
                unknown.expect(what);
            } else {
                let denied = denied.replace("secret", "sesame");
                assert_eq!(denied, unknown.expect_err(what), "{way:?}, {what}");
            }
        }
        // Errors suggest only what the caller sees.
        let near = session.call("secret_fil", json!({})).await;
        assert_eq!(near.expect_err("an error").data(), None, "{way:?}");
        let near = session.call("opn_file", json!({})).await;
        let near = near.expect_err("an error");
        assert_eq!(near.data(), Some(&json!({ "similar": "open_file" })));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_spellings_of_a_uri_do_not_pass() {
    let rules = "rules = [{ deny = { resources = [\"docs://*secret*\", \"docs://Old\", \"file:///etc/*\"] } },\
        { allow = { resources = [\"*\"] } }]\n";
    let list = json!({ "resources": [
        { "uri": "docs://Old", "name": "old" }, { "uri": "docs://New/%6e", "name": "new" },
    ] });
    let wat = Wat::new().describe(r#"{"tools":[]}"#).answer("{}");
    let output = "(call $output {}) (i32.const 0)";
    let contents = json!({ "contents": [{ "uri": "docs://x", "text": "text" }] });
    let wat = wat.export("list_resources", &list.to_string(), output);
    let wat = wat.export("read_resource", &contents.to_string(), output);
    let config = format!("{WEB}{rules}{FILES}");
    let site = Site::start(&config, &[("files.wasm", &wat.wasm())]).await;
    let session = site.connect(Way::HttpModern, "web").await;
    for uri in [
        "docs://secret",
        "docs://%73ecret",
        "docs://%2573ecret",
        "DOCS://a/secret",
        "docs://open/../x",
        "docs://open/%2E%2e%2Fx",
        "docs://Old",
        "docs://old",
        "docs://new/%6E",
        "file:///etc/passwd",
        "file:////etc/passwd",
        "file://localhost/etc/passwd",
        "file:/etc/passwd",
        "file:///\tetc/passwd",
    ] {
        session.read(uri).await.expect_err(uri);
    }
    for uri in ["docs://open/a%20b", "docs://New/%6e"] {
        session.read(uri).await.expect(uri);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encoded_zero_does_not_pass() {
    let rules = "rules = [{ allow = { resources = [\"docs://open/*\"] } }]\n";
    let site = site(&format!("{WEB}{rules}{FILES}")).await;
    let session = site.connect(Way::HttpModern, "web").await;
    session.read("docs://open/1").await.expect("contents");
    for uri in ["docs://%00", "docs://\0", "docs://open/%00"] {
        session.read(uri).await.expect_err(uri);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_one_kind_say_nothing_about_others() {
    let rules = "rules = [{ allow = [\"*_file*\"], annotations = { readOnlyHint = true } }]\n";
    let site = site(&format!("{WEB}{rules}{FILES}")).await;
    let session = site.connect(Way::HttpLegacy, "web").await;
    assert_eq!(tools(&session).await, ["list_files"]);
    let lists = session.lists().await.expect("lists");
    assert_eq!(lists.prompts.expect("prompts").len(), 2);
    assert_eq!(lists.resources.expect("resources").len(), 2);
}

/// The section with keys for two callers.
fn callers() -> String {
    let key = |name: &str, scopes: &str| {
        let digest = Sha256::of(format!("the key of {name}").as_bytes());
        format!(
            "{{ name = \"{name}\", sha256 = \"{digest}\", header = \"x-api-key\", scopes = [{scopes}] }}"
        )
    };
    let (ann, bob) = (key("ann", "\"pay\""), key("bob", ""));
    format!("[auth.corp]\nkey = [{ann}, {bob}]\n")
}

const AUTH: &str = "auth = \"corp\"\n";

/// Sends a request since 2026-07-28 as one of them.
fn ask_with(
    site: &Site,
    name: &str,
    method: &str,
    params: Value,
    headers: &[(&str, &str)],
) -> Answer {
    let client = site
        .http("web")
        .with("x-api-key", &format!("the key of {name}"));
    client.with_all(headers).ask(method, params)
}

fn ask(site: &Site, name: &str, method: &str, params: Value) -> (u16, Value) {
    let answer = ask_with(site, name, method, params, &[]);
    (answer.status(), answer.message())
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_see_what_their_scopes_allow() {
    let rules = "rules = [{ allow = [\"pay_*\"], scopes = [\"pay\"] }, { allow = [\"greet\"] }]\n";
    let callers = callers();
    // A challenge for these scopes would tell others that the tool exists.
    let config = format!(
        "{WEB}{AUTH}{rules}{callers}[servlet.bank]\nsource = \"bank.wasm\"\n\
         tool.pay_all = {{ scopes = [\"admin\"] }}\n"
    );
    let bank = servlet(&["pay_out", "pay_all", "greet"], "done");
    let site = Site::start(&config, &[("bank.wasm", &bank)]).await;
    for (name, expected) in [
        ("ann", &["pay_out", "pay_all", "greet"][..]),
        ("bob", &["greet"]),
    ] {
        let (_, answer) = ask(&site, name, "tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, expected, "{name}");
        assert_eq!(answer["result"]["cacheScope"], "private");
    }
    let call = |name: &str, tool: &str| ask(&site, name, "tools/call", json!({ "name": tool }));
    assert_eq!(call("ann", "pay_out").0, 200);
    assert_eq!(call("ann", "pay_all").0, 403);
    let unknown = call("bob", "pay_nobody");
    for hidden in ["pay_out", "pay_all"] {
        let (status, answer) = call("bob", hidden);
        let text = answer.to_string().replace(hidden, "pay_nobody");
        assert_eq!((status, text), (unknown.0, unknown.1.to_string()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_parameters_do_not_tell_whether_a_tool_exists() {
    let number = json!({ "type": "integer", "x-mcp-header": "Amount" });
    let tool = json!({
        "name": "pay",
        "inputSchema": { "type": "object", "properties": { "amount": number } },
    });
    let wat = Wat::new().describe(&json!({ "tools": [tool] }).to_string());
    let rules = "rules = [{ allow = [\"pay\"], scopes = [\"pay\"] }]\n";
    let config = format!(
        "{WEB}{AUTH}{rules}{}[servlet.bank]\nsource = \"bank.wasm\"\n",
        callers()
    );
    let bank = wat.answer(r#"{"content":[]}"#).wasm();
    let site = Site::start(&config, &[("bank.wasm", &bank)]).await;
    let call = |name: &str, tool: &str| {
        let params = json!({ "name": tool, "arguments": { "amount": 5 } });
        let wrong = [("mcp-param-amount", "6")];
        let answer = ask_with(&site, name, "tools/call", params, &wrong);
        (answer.status(), answer.text().to_owned())
    };
    let (status, text) = call("ann", "pay");
    assert_eq!(status, 400, "{text}");
    let (unknown, mismatch) = (call("bob", "pux"), call("bob", "pay"));
    assert_eq!(mismatch.1.replace("pay", "pux"), unknown.1);
    assert_eq!(mismatch.0, unknown.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_a_tool_end_with_the_right_to_use_it() {
    let tool = json!({
        "name": "pay_out",
        "inputSchema": { "type": "object" },
        "execution": { "taskSupport": "required" },
    });
    let wat = Wat::new().describe(&json!({ "tools": [tool] }).to_string());
    let bank = wat.answer(r#"{"content":[]}"#).wasm();
    let config = |rules: &str| {
        format!(
            "{WEB}{AUTH}{rules}{}[servlet.bank]\nsource = \"bank.wasm\"\n",
            callers()
        )
    };
    let site = Site::start(&config(""), &[("bank.wasm", &bank)]).await;
    let ask = |method: &str, params: Value| {
        let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let request = able(stateless(method, params), tasks);
        let bob = site.http("web").with("x-api-key", "the key of bob");
        bob.post(&request).message()
    };
    let task = ask("tools/call", json!({ "name": "pay_out", "arguments": {} }));
    let id = &task["result"]["taskId"];
    assert!(id.is_string(), "{task}");
    let get = || ask("tasks/get", json!({ "taskId": id }));
    eventually("the task ends", async || {
        get()["result"]["status"] == "completed"
    })
    .await;
    let rules = "rules = [{ allow = [\"pay_*\"], scopes = [\"pay\"] }]\n";
    site.write("servlet.toml", config(rules));
    eventually("the rule applies", async || get()["error"].is_object()).await;
    let unknown = ask("tasks/get", json!({ "taskId": "x" })).to_string();
    let id = id.as_str().expect("an id");
    assert_eq!(
        get().to_string(),
        unknown.replace("`x`", &format!("`{id}`"))
    );
    // A tool that is hidden is not even one that needs tasks.
    let call = ask("tools/call", json!({ "name": "pay_out", "arguments": {} }));
    assert_eq!(call["error"]["code"], -32602, "{call}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_rules_apply_at_once_and_change_lists() {
    let config = |denied: &str| {
        let rules = format!("rules = [{{ deny = [{denied}] }}, {{ allow = [\"*\"] }}]\n");
        format!("{WEB}{rules}{PIPE}{FILES}")
    };
    let site = site(&config("\"secret_*\"")).await;
    let open = site.connect(Way::PipeLegacy, "pipe").await;
    for way in [Way::HttpLegacy, Way::HttpModern] {
        site.write("servlet.toml", config("\"secret_*\""));
        let session = site.connect(way, "web").await;
        eventually("two tools", async || tools(&session).await.len() == 2).await;
        let mut events = session.watch(["docs://open"]).await.expect("events");
        site.write("servlet.toml", config("\"secret_*\", \"list_*\""));
        assert_eq!(
            next_event(&mut events).await,
            Event::ToolsChanged,
            "{way:?}"
        );
        assert_eq!(tools(&session).await, ["open_file"], "{way:?}");
        session
            .call("list_files", json!({}))
            .await
            .expect_err("an error");
    }
    // The other endpoint has no rules.
    assert_eq!(tools(&open).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_hear_of_changes_that_they_can_see() {
    let site = site(&format!("{WEB}{NO_SECRETS}{FILES}")).await;
    let uris = ["docs://secret", "docs://open"];
    for way in [Way::HttpLegacy, Way::HttpModern] {
        let session = site.connect(way, "web").await;
        let mut events = session.watch(uris).await.expect("events");
        let uri = "docs://open".to_owned();
        let updated = Event::ResourceUpdated { uri };
        assert_eq!(
            first_update(&site, &mut events, uris).await,
            updated,
            "{way:?}"
        );
    }
}

/// The first event while all of these resources change again and again. The subscription may begin after its stream.
async fn first_update(site: &Site, events: &mut Events, uris: [&str; 2]) -> Event {
    let server = site.service.server_of("web").expect("an endpoint");
    let mut first = pin!(next_event(events));
    eventually("an update", async || {
        for uri in uris {
            server.notify(mcp_servlet_call::Change::Resource(uri.to_owned()));
        }
        match poll!(&mut first) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => None,
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_needs_the_member_that_lists_the_resource() {
    let rules = "rules = [{ deny = { resources = [\"docs://secret*\"] }, members = [\"files\"] },\
        { allow = { resources = [\"*\"] } }]\n";
    let output = "(call $output {}) (i32.const 0)";
    let other = Wat::new().describe(r#"{"tools":[]}"#).answer("{}");
    let other = other.export("read_resource", "{}", output).wasm();
    let config = format!("{WEB}{rules}{FILES}[servlet.other]\nsource = \"other.wasm\"\n");
    let modules: [(&str, &[u8]); 2] = [("files.wasm", &files()), ("other.wasm", &other)];
    let site = Site::start(&config, &modules).await;
    let session = site.connect(Way::HttpModern, "web").await;
    let uris = ["docs://secret", "docs://open"];
    let mut events = session.watch(uris).await.expect("events");
    let uri = "docs://open".to_owned();
    let updated = Event::ResourceUpdated { uri };
    assert_eq!(first_update(&site, &mut events, uris).await, updated);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_with_a_member_apply_to_virtual_tools_that_call_it() {
    let bundle = "[bundle.ops.tool.peek]\nhandler = \"files:secret_file\"\n\
        [bundle.ops.tool.list]\nhandler = \"files:list_files\"\n";
    let rules = |first: &str| format!("rules = [{first}{{ allow = [\"*\"] }}]\n");
    for (first, expected) in [
        // Only rules with a member restrict the calls of virtual tools.
        (
            "{ deny = [\"secret_*\"] }, ",
            &["list_files", "open_file", "peek", "list"][..],
        ),
        (
            "{ deny = [\"secret_*\"], members = [\"files\"] }, ",
            &["list_files", "open_file", "list"],
        ),
        (
            "{ deny = [\"*\"], members = [\"ops\"] }, ",
            &["list_files", "open_file", "secret_file"],
        ),
        ("{ deny = [\"*\"], members = [\"files\"] }, ", &[]),
    ] {
        let site = site(&format!("{WEB}{}{FILES}{bundle}", rules(first))).await;
        let session = site.connect(Way::HttpModern, "web").await;
        assert_eq!(tools(&session).await, expected, "{first}");
        for tool in ["peek", "list"] {
            let called = session.call(tool, json!({})).await;
            assert_eq!(called.is_ok(), expected.contains(&tool), "{first} {tool}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_of_a_directory_have_the_name_of_its_section() {
    let rules = "rules = [{ allow = [\"*\"], members = [\"all\"] }]\n";
    let config = format!("{WEB}{rules}[servlet.all]\nsource = \"modules\"\n{FILES}");
    let folder = tempfile::tempdir().expect("a folder");
    let modules = folder.path().join("modules");
    std::fs::create_dir(&modules).expect("a folder");
    std::fs::write(modules.join("a.wasm"), servlet(&["x"], "a")).expect("a file");
    let config = config.replace("modules", modules.to_str().expect("a path"));
    let site = site(&config).await;
    let session = site.connect(Way::HttpModern, "web").await;
    assert_eq!(tools(&session).await, ["x"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_the_guide_do_what_it_says() {
    let guide = include_str!("../../../../../docs/access.md");
    let (_, chapter) = guide.split_once("\n## Rules\n").expect("the chapter");
    let (chapter, _) = chapter.split_once("\n## ").expect("the next one");
    let blocks = chapter.split("```toml\n").skip(1);
    let mut blocks = blocks.map(|block| block.split("```").next().expect("a block"));
    let [by_scope, by_name] = [(); 2].map(|()| blocks.next().expect("a block"));
    let web = WEB.replace("endpoint.web", "endpoint.main");
    let head = format!("{web}{AUTH}");
    let tool = |name: &str| {
        let annotations = json!({ "readOnlyHint": name == "balance" });
        json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations })
    };
    let tools = ["pay_out", "debug_all", "balance"].map(tool);
    let tools = json!({ "tools": tools });
    let resources = json!({ "resources": [
        { "uri": "file:///etc/passwd", "name": "a" }, { "uri": "file:///b", "name": "b" },
    ] });
    let bank = Wat::new()
        .describe(&tools.to_string())
        .answer(r#"{"content":[]}"#);
    let output = "(call $output {}) (i32.const 0)";
    let bank = bank.export("list_resources", &resources.to_string(), output);
    let bank = bank.export("read_resource", "{}", output).wasm();
    for (rules, ann, bob, files) in [
        (by_scope, &["pay_out", "balance"][..], &["balance"][..], 2),
        (by_name, &["pay_out", "balance"], &["pay_out", "balance"], 1),
    ] {
        let config = format!(
            "{head}{rules}{}[servlet.bank]\nsource = \"bank.wasm\"\n",
            callers()
        );
        let site = Site::start(&config, &[("bank.wasm", &bank)]).await;
        let list = |name: &str, method: &str, member: &str| {
            let client = site.http("main");
            let client = client.with("x-api-key", &format!("the key of {name}"));
            let answer = client.ask(method, json!({})).message();
            answer["result"][member].as_array().expect("a list").clone()
        };
        for (name, expected) in [("ann", ann), ("bob", bob)] {
            let tools = list(name, "tools/list", "tools");
            let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
            assert_eq!(names, expected, "{name}: {rules}");
        }
        assert_eq!(list("ann", "resources/list", "resources").len(), files);
    }
}

/// A servlet whose tools return their requests.
fn bank() -> Vec<u8> {
    let amount = json!({ "type": "number" });
    let properties = json!({ "amount": amount, "to": { "type": "object" } });
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } });
    let tools = ["pay", "refund"].map(tool);
    echo_as(&json!({ "tools": tools }).to_string())
}

const BANK: &str = "[servlet.bank]\nsource = \"bank.wasm\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn rules_read_the_arguments_of_a_call() {
    let rules = "rules = [\n\
        { name = \"iban\", deny = [\"pay\"], arguments = { \"to.iban\" = { pattern = \"^X\" } } },\n\
        { name = \"small\", allow = [\"pay\"], arguments = { amount = { minimum = 0, maximum = 100 } }, message = \"Ask a person.\" },\n\
        ]\n";
    let coerce = "limits.arguments = \"coerce\"\n";
    let config = format!("{WEB}{rules}{OLD}{rules}{PIPE}{rules}{BANK}{coerce}");
    let site = Site::start(&config, &[("bank.wasm", &bank())]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["pay"], "{way:?}");
        for (arguments, denied) in [
            (json!({ "amount": 100 }), None),
            // The rule sees what the tool gets.
            (json!({ "amount": "7" }), None),
            (json!({ "amount": 7, "to": { "iban": "DE1" } }), None),
            (
                json!({ "amount": 250 }),
                Some(
                    "Not allowed: pay with amount = 250. Allowed: amount: number from 0 to 100. Ask a person.",
                ),
            ),
            (
                json!({ "amount": "1e3" }),
                Some(
                    "Not allowed: pay with amount = 1000.0. Allowed: amount: number from 0 to 100. Ask a person.",
                ),
            ),
            (
                json!({}),
                Some(
                    "Not allowed: pay without amount. Allowed: amount: number from 0 to 100. Ask a person.",
                ),
            ),
            (
                json!({ "amount": 7, "to": { "iban": "XX" } }),
                Some(
                    "Not allowed: pay with to.iban = \"XX\". Denied: to.iban: string matching `^X`.",
                ),
            ),
        ] {
            let called = session.call("pay", arguments.clone()).await;
            let result = json!(called.expect("a result").raw);
            let text = result["content"][0]["text"].as_str();
            assert_eq!(text, denied, "{way:?}: {arguments}");
            assert_eq!(result["isError"] == true, denied.is_some(), "{way:?}");
            if denied.is_none() {
                let sent = &result["structuredContent"]["params"]["name"];
                assert_eq!(sent, "pay", "{way:?}");
            }
        }
        let called = session.call("pay", json!({ "amount": 250 })).await;
        let result = json!(called.expect("a result").raw);
        let denied = json!({ "rule": "small", "argument": "amount" });
        assert_eq!(result["_meta"]["mcp-servlet/denied"], denied, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_explanations_a_model_only_reads_the_message() {
    let explain = "explain_denials = false\n";
    let limit = "arguments = { amount = { minimum = 50 } }";
    for (message, expected) in [
        ("", "Not allowed: pay."),
        (", message = \"Ask a person.\"", "Ask a person."),
    ] {
        let rules =
            format!("rules = [{{ deny = [\"pay\"], {limit}{message} }}, {{ allow = [\"*\"] }}]\n");
        let config = |explain| format!("{WEB}{explain}{rules}{BANK}");
        let site = Site::start(&config(explain), &[("bank.wasm", &bank())]).await;
        let session = site.connect(Way::HttpModern, "web").await;
        let denied = async || {
            let called = session.call("pay", json!({ "amount": 250 })).await;
            let result = json!(called.expect("a result").raw);
            assert_eq!(result["isError"], true, "{result}");
            let text = result["content"][0]["text"].as_str().map(str::to_owned);
            (text, result["_meta"]["mcp-servlet/denied"].clone())
        };
        assert_eq!(denied().await, (Some(expected.to_owned()), json!({})));
        // A change of the file applies at once.
        site.write("servlet.toml", config(""));
        eventually("an explanation", async || {
            denied().await.1["argument"] == "amount"
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_with_a_member_read_the_arguments_that_virtual_tools_send() {
    let bundle = "[bundle.ops.tool.pay_all]\nhandler = \"bank:pay\"\n\
        inputs = { amount = \"${{ request.arguments.euros * 100 }}\" }\n\
        [bundle.ops.tool.pay_all.arguments]\ntype = \"object\"\nrequired = [\"euros\"]\n\
        properties = { euros = { type = \"integer\" } }\n";
    let own = "{ deny = [\"pay_all\"], arguments = { euros = { minimum = 50 } } }";
    let of_bank = "{ deny = [\"pay\"], members = [\"bank\"], arguments = { amount = { minimum = 5000 } }, message = \"Ask a person.\" }";
    for (rule, denied, text) in [
        (
            own,
            json!({ "rule": "line 6", "argument": "euros" }),
            "Not allowed: pay_all with euros = 50. Denied: euros: number of at least 50.",
        ),
        // What the virtual tool sends is not for its callers.
        (
            of_bank,
            json!({ "rule": "line 6" }),
            "Not allowed: pay_all. Ask a person.",
        ),
    ] {
        let rules = format!("rules = [{rule}, {{ allow = [\"*\"] }}]\n");
        let config = format!("{WEB}{rules}{BANK}{bundle}");
        let site = Site::start(&config, &[("bank.wasm", &bank())]).await;
        let session = site.connect(Way::HttpModern, "web").await;
        for (euros, is_denied) in [(49, false), (50, true)] {
            let called = session.call("pay_all", json!({ "euros": euros })).await;
            let result = json!(called.expect("a result").raw);
            assert_eq!(result["isError"] == true, is_denied, "{rule}: {result}");
            if is_denied {
                assert_eq!(result["content"][0]["text"], text);
                assert_eq!(result["_meta"]["mcp-servlet/denied"], denied);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rule_about_arguments_of_the_guide_does_what_it_says() {
    let guide = include_str!("../../../../../docs/access.md");
    let (_, chapter) = guide
        .split_once("### Arguments in rules")
        .expect("the chapter");
    let block = |begin: &str| {
        let (_, rest) = chapter.split_once(begin).expect("a block");
        rest.split("```").next().expect("its end")
    };
    let web = WEB.replace("endpoint.web", "endpoint.main");
    let rule = block("```toml\n").replace("pay_out", "pay");
    let site = Site::start(&format!("{web}{rule}{BANK}"), &[("bank.wasm", &bank())]).await;
    let session = site.connect(Way::HttpModern, "main").await;
    let call = async |arguments: Value| {
        let called = session.call("pay", arguments).await;
        json!(called.expect("a result").raw)
    };
    let denied = call(json!({ "amount": 250 })).await;
    let text = denied["content"][0]["text"].as_str().expect("text");
    assert_eq!(
        text.replace("pay with", "pay_out with"),
        block("```text\n").trim()
    );
    for (arguments, is_denied) in [
        (json!({ "amount": 1 }), false),
        (json!({ "amount": 1, "to": { "country": "DE" } }), false),
        (json!({ "amount": 1, "to": { "country": "US" } }), true),
    ] {
        let result = call(arguments).await;
        assert_eq!(result["isError"] == true, is_denied, "{result}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_are_there_twice_are_refused() {
    let rules = "rules = [{ deny = [\"pay\"], arguments = { amount = { minimum = 50 } } }, { allow = [\"*\"] }]\n";
    let site = Site::start(&format!("{WEB}{rules}{BANK}"), &[("bank.wasm", &bank())]).await;
    for (arguments, name) in [
        (r#"{"amount":1,"amount":99}"#, Some("amount")),
        (r#"{"amount":1,"am\u006funt":99}"#, Some("amount")),
        (
            r#"{"amount":1,"to":{"x":[{"y":1,"z":2,"y":3}]}}"#,
            Some("y"),
        ),
        (
            r#"{"amount":1,"to":{"amount":99,"x":[{"y":1},{"y":2}]}}"#,
            None,
        ),
    ] {
        let request = stateless("tools/call", json!({ "name": "pay", "arguments": "HERE" }));
        let request = request.to_string().replace("\"HERE\"", arguments);
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "pay"),
        ];
        let client = site.http("web").with_all(&headers);
        let answer = client.post_text(&request).message();
        match name {
            Some(name) => {
                assert_eq!(answer["error"]["code"], -32602, "{answer}");
                let message = answer["error"]["message"].as_str().expect("a message");
                assert!(
                    message.ends_with(&format!("`arguments` has `{name}` twice")),
                    "{message}"
                );
            }
            None => assert_eq!(answer["result"]["isError"], Value::Null, "{answer}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_are_those_of_members_that_the_caller_can_use() {
    let member = |name: &str| {
        let tool = json!({ "name": format!("{name}_tool"), "inputSchema": { "type": "object" } });
        let text = format!("How to use {name}.");
        Wat::new()
            .describe(&json!({ "tools": [tool], "instructions": text }).to_string())
            .answer(r#"{"content":[]}"#)
            .wasm()
    };
    let rules = "rules = [{ deny = [\"secret_*\"] }, { allow = [\"*\"] }]\n";
    let servlets =
        "[servlet.open]\nsource = \"open.wasm\"\n[servlet.secret]\nsource = \"secret.wasm\"\n";
    let config = format!("{WEB}{rules}{OLD}{rules}{PIPE}{rules}{servlets}");
    let modules = [
        ("open.wasm", &*member("open")),
        ("secret.wasm", &*member("secret")),
    ];
    let site = Site::start(&config, &modules).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["open_tool"], "{way:?}");
        let instructions = session.server().text.instructions.as_deref();
        assert_eq!(instructions, Some("How to use open."), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_completion_uses_the_arguments_that_are_known() {
    let list =
        json!({ "resourceTemplates": [{ "uriTemplate": "docs://{area}/{id}", "name": "t" }] });
    let output = "(call $output {}) (i32.const 0)";
    let wat = Wat::new().describe(r#"{"tools":[]}"#).answer("{}");
    let wat = wat.export("list_resource_templates", &list.to_string(), output);
    let wat = wat.export("read_resource", r#"{"contents":[]}"#, output);
    let completed = json!({ "completion": { "values": ["v"] } }).to_string();
    let wasm = wat.export("complete", &completed, output).wasm();
    let rules = "rules = [{ deny = { resources = [\"docs://secret/*\"] } }, { allow = { resources = [\"*\"] } }]\n";
    let site = Site::start(&format!("{WEB}{rules}{FILES}"), &[("files.wasm", &wasm)]).await;
    let session = site.connect(Way::HttpModern, "web").await;
    let template = "docs://{area}/{id}";
    for (known, is_allowed) in [
        (json!({}), true),
        (json!({ "area": "open" }), true),
        (json!({ "area": "secret" }), false),
    ] {
        let completed = session
            .complete_template(template, "id", "", known.clone())
            .await;
        assert_eq!(completed.is_ok(), is_allowed, "{known}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_of_a_session_follow_the_last_token() {
    let rules = "rules = [{ allow = { resources = [\"docs://secret*\"] }, scopes = [\"pay\"] }, { allow = { resources = [\"docs://open*\"] } }]\n";
    let issuer = Issuer::new();
    let config = format!(
        "{WEB}{AUTH}{rules}{FILES}[auth.corp]\nresource = \"{RESOURCE}\"\n\
         [[auth.corp.jwt]]\nissuer = \"{ISSUER}\"\njwks = \"keys.json\"\n"
    );
    let keys = json!({ "keys": issuer.keys() }).to_string();
    let modules = [("files.wasm", &*files()), ("keys.json", keys.as_bytes())];
    let site = Site::start(&config, &modules).await;
    let bearer = |scope: &str| format!("Bearer {}", issuer.token(&json!({ "scope": scope })));
    let web = site.http("web");
    let full = web.with("authorization", &bearer("pay")).open();
    let small = web.with("authorization", &bearer("mcp"));
    let small = small.in_session(full.session());
    for uri in ["docs://secret", "docs://open"] {
        full.ask("resources/subscribe", json!({ "uri": uri }))
            .text();
    }
    let mut messages = full.listen().into_events();
    let mut updated = || {
        let updated = messages.find(|one| one["method"] == "notifications/resources/updated");
        updated.expect("a notification")["params"]["uri"].clone()
    };
    let server = site.service.server_of("web").expect("an endpoint");
    let notify = |uri: &str| server.notify(mcp_servlet_call::Change::Resource(uri.to_owned()));
    notify("docs://secret");
    assert_eq!(updated(), "docs://secret");
    small.ask("tools/list", json!({})).text();
    notify("docs://secret");
    notify("docs://open");
    assert_eq!(updated(), "docs://open");
}
