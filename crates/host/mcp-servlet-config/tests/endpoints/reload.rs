//! Changes of the configuration while it is served.

use mcp_servlet_client::{Event, Session};
use puppet::eventually;
use serde_json::json;
use wire::{Answer, Sse};

use crate::{
    log,
    site::{OLD, PIPE, Site, WAYS, WEB, Way, definitions, next_event, tools},
    wasm::servlet,
};

const SERVLETS: &str = "[servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\n";

async fn site(config: &str) -> Site {
    log::start();
    let files = [
        ("a.wasm", servlet(&["x"], "a")),
        ("b.wasm", servlet(&["y"], "b")),
    ];
    let files: Vec<_> = files.iter().map(|(name, wasm)| (*name, &**wasm)).collect();
    Site::start(config, &files).await
}

/// Waits until the session sees these tools.
async fn serves(session: &Session, expected: &[&str]) {
    eventually(&format!("{expected:?}"), async || {
        tools(session).await == expected
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_endpoints_whose_lists_differ_notify_their_clients() {
    let config = |web: &str| format!("{WEB}bundles = [{web}]\n{OLD}bundles = [\"a\"]\n{SERVLETS}");
    let site = site(&config("\"a\"")).await;
    let web = site.connect(Way::HttpLegacy, "web").await;
    let old = site.connect(Way::Sse, "old").await;
    let (mut web_events, mut old_events) = (web.events(), old.events());
    site.write("servlet.toml", config("\"b\", \"a\""));
    assert_eq!(next_event(&mut web_events).await, Event::ToolsChanged);
    assert_eq!(tools(&web).await, ["y", "x"]);
    // The next change concerns both; the other endpoint hears nothing before it.
    site.write("a.wasm", servlet(&["z"], "a"));
    serves(&web, &["y", "z"]).await;
    assert_eq!(next_event(&mut old_events).await, Event::ToolsChanged);
    assert_eq!(tools(&old).await, ["z"]);
    site.has_sent_nothing("old", &mut old_events).await;
}

/// A bundle that calls the tool of a servlet.
fn bundle(tool: &str, more: &str) -> String {
    format!("[bundle.ops.tool.{tool}]\nhandler = \"a:x\"\n{more}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_bundle_is_served_at_once() {
    let members = format!("{WEB}{OLD}bundles = [\"b\"]\n{PIPE}{SERVLETS}");
    let site = site(&format!("{members}{}", bundle("run", ""))).await;
    let ways = WAYS.into_iter().filter(|(_, endpoint)| *endpoint != "old");
    let mut sessions = Vec::new();
    for (way, endpoint) in ways {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["x", "y", "run"], "{way:?}");
        let events = session.watch(std::iter::empty::<String>()).await;
        sessions.push((way, session, events.expect("events")));
    }
    let old = site.connect(Way::Sse, "old").await;
    let mut others = old.events();
    let result = "[bundle.ops.tool.start.result]\ncontent = [{ type = \"text\", text = \"${{ request.name }}\" }]\n";
    site.write(
        "servlet.toml",
        format!("{members}{}{result}", bundle("start", "")),
    );
    for (way, session, events) in &mut sessions {
        assert_eq!(next_event(events).await, Event::ToolsChanged, "{way:?}");
        assert_eq!(tools(session).await, ["x", "y", "start"], "{way:?}");
        let called = session.call("start", json!({})).await.expect("a result");
        assert_eq!(called.text(), "start", "{way:?}");
        let gone = session
            .call("run", json!({}))
            .await
            .expect_err("it is gone");
        assert_eq!(gone.code(), Some(-32602), "{way:?}");
    }
    // The list of this endpoint is the same.
    site.has_sent_nothing("old", &mut others).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_change_at_once() {
    let config = |value: &str| {
        let headers = format!("headers = {{ x-version = \"{value}\" }}\n");
        format!("{WEB}{headers}{OLD}message_{headers}{SERVLETS}")
    };
    let site = site(&config("1")).await;
    let version = |answer: Answer| {
        let version = answer.header("x-version");
        version.expect("a header").to_owned()
    };
    let web = || version(site.http("web").initialize());
    let stream = Sse::open(&site.http("old"));
    let message = || version(stream.http.initialize());
    assert_eq!([web(), message()], ["1", "1"]);
    site.write("servlet.toml", config("2"));
    eventually("the new headers", async || web() == "2").await;
    assert_eq!(message(), "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_that_does_not_fit_keeps_the_previous_one() {
    let members = format!("{WEB}{OLD}{PIPE}{SERVLETS}");
    let site = site(&format!("{members}{}", bundle("run", ""))).await;
    for (wrong, message) in [
        (
            "handler = \"a:xx\"",
            "servlet `a` has no tool `xx`; there is `x`",
        ),
        ("handler = \"c:x\"", "there is no servlet or remote `c`"),
        (
            "handler = \"a:x\"\nresult = { content = \"${{ result.sum }}\" }",
            "`a:x` has no output schema: write `result.structuredContent.sum`",
        ),
    ] {
        let changed = bundle("changed", "").replace("handler = \"a:x\"", wrong);
        site.write("servlet.toml", format!("{members}{changed}"));
        log::says(message).await;
    }
    log::says("servlet.toml:16:11: servlet `a` has no tool `xx`").await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["x", "y", "run"], "{way:?}");
        let called = session.call("run", json!({})).await.expect("a result");
        assert_eq!(called.text(), "a", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_in_a_file_is_read_again() {
    log::start();
    let config = format!(
        "{WEB}{OLD}{PIPE}bundles = [\"ops\"]\n{SERVLETS}{}",
        bundle("run", "arguments = \"run.json\"\n")
    );
    let schema = |property: &str| {
        let schema = json!({ "type": "object", "properties": { property: {} } });
        schema.to_string()
    };
    let files = [
        ("a.wasm", servlet(&["x"], "a")),
        ("b.wasm", servlet(&["y"], "b")),
        ("run.json", schema("first").into_bytes()),
    ];
    let files: Vec<_> = files
        .iter()
        .map(|(name, bytes)| (*name, &**bytes))
        .collect();
    let site = Site::start(&config, &files).await;
    let session = site.connect(Way::PipeModern, "pipe").await;
    let shown = async || {
        let schema = definitions(&session).await[0]["inputSchema"].clone();
        let properties = schema["properties"].as_object().expect("properties").keys();
        properties.cloned().collect::<Vec<_>>()
    };
    assert_eq!(shown().await, ["first"]);
    site.write("run.json", schema("second"));
    eventually("the new schema", async || shown().await == ["second"]).await;
    site.write("run.json", "{");
    log::says("run.json`: EOF while parsing").await;
    assert_eq!(shown().await, ["second"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_what_needs_a_restart() {
    let site = site(&format!("{WEB}{OLD}{PIPE}{SERVLETS}")).await;
    let session = site.connect(Way::HttpModern, "web").await;
    let web = WEB
        .replace("web]\n", "web]\npath = \"/other\"\n")
        .replace("127.0.0.1:0", "127.0.0.2:0");
    let old = OLD.replace("endpoint.old", "endpoint.new");
    site.write(
        "servlet.toml",
        format!("[tasks]\nmax = 7\n{web}bundles = [\"b\"]\n{old}{PIPE}{SERVLETS}"),
    );
    serves(&session, &["y"]).await;
    let sections = [
        "[tasks]",
        "[listener.local]",
        "[endpoint.web]",
        "[endpoint.new]",
        "[endpoint.old]",
    ];
    for section in sections {
        log::says(&format!(
            "`{section}` has changed: restart the server to apply it"
        ))
        .await;
    }
    // An endpoint that the file no longer has is served until then.
    let session = site.connect(Way::Sse, "old").await;
    assert_eq!(tools(&session).await, ["x", "y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_configuration_keeps_the_previous_one() {
    let site = site(&format!("{WEB}bundles = [\"a\"]\n{SERVLETS}")).await;
    let session = site.connect(Way::HttpModern, "web").await;
    site.write(
        "servlet.toml",
        format!("{WEB}bundles = [\"aa\"]\n{SERVLETS}"),
    );
    log::says("there is no servlet, remote or bundle `aa`; did you mean `a`?").await;
    assert_eq!(tools(&session).await, ["x"]);
}
