//! Remotes of a configuration, as clients of each transport see them.

use std::time::Duration;

use mcp_servlet_client::{Event, Events};
use mcp_servlet_config::Config;
use mcp_servlet_server::Remotes;
use puppet::eventually;
use serde_json::{Value, json};

use crate::{
    log,
    site::{OLD, PIPE, Site, WAYS, WEB, Way, tools},
    support::{Mortal, call, child, connected, script, with_calls},
};

const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// An address where nothing listens.
fn free() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a port")
}

/// Waits for the notification that the list of tools has changed.
async fn tools_changed(way: Way, events: &mut Events) {
    let event = tokio::time::timeout(Duration::from_secs(10), events.next()).await;
    let event = event.unwrap_or_else(|_| panic!("{way:?}: no event"));
    let event = event.expect("an open session").expect("an event");
    assert_eq!(event, Event::ToolsChanged, "{way:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_remote_that_comes_later_appear_with_a_notification() {
    let address = free();
    let config = format!(
        "{WEB}{OLD}{PIPE}[remote.far]\nurl = \"http://{address}/mcp\"\nretry.every = \"100ms\"\n"
    );
    let site = Site::start(&config, &[]).await;
    let mut clients = Vec::new();
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let lists = session.lists().await.expect("lists");
        assert!(lists.tools.unwrap_or_default().is_empty(), "{way:?}");
        let events = session.watch(std::iter::empty::<String>()).await;
        clients.push((way, session, events.expect("events")));
    }
    let puppet = with_calls(&BOTH, json!([{ "result": { "content": [] } }]));
    let _mortal = Mortal::start_at(&puppet, address);
    for (way, session, events) in &mut clients {
        tools_changed(*way, events).await;
        assert_eq!(tools(session).await, ["t"], "{way:?}");
        session.call("t", json!({})).await.expect("a result");
    }
}

/// Two remotes at one address, which differ in `when_down`, with a virtual tool over each.
fn kept_and_hidden(address: std::net::SocketAddr) -> String {
    let section = |when_down: &str| {
        format!(
            "[remote.{when_down}]\nurl = \"http://{address}/mcp\"\nrequired = true\n\
             when_down = \"{when_down}\"\nretry.every = \"50ms\"\ntools.prefix = \"name\"\n\
             [bundle.ops.tool.my_{when_down}]\nhandler = \"{when_down}:t\"\n"
        )
    };
    format!("{}{}", section("keep"), section("hide"))
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_remote_that_is_down_are_kept_or_hidden_as_configured() {
    const ALL: [&str; 4] = ["keep_t", "hide_t", "my_keep", "my_hide"];
    let puppet = with_calls(&BOTH, json!([{ "result": { "content": [] } }]));
    let mut mortal = Mortal::start(&puppet);
    let config = format!("{WEB}{OLD}{PIPE}{}", kept_and_hidden(mortal.address));
    let site = Site::start(&config, &[]).await;
    let mut clients = Vec::new();
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ALL, "{way:?}");
        let events = session.watch(std::iter::empty::<String>()).await;
        clients.push((way, session, events.expect("events")));
    }

    mortal.kill();
    // That the server has gone is only seen by a request.
    for tool in ["keep_t", "hide_t"] {
        let error = clients[0].1.call(tool, json!({})).await.expect_err(tool);
        assert_eq!(error.code(), Some(-32000), "{tool}: {error}");
    }
    for (way, session, events) in &mut clients {
        tools_changed(*way, events).await;
        assert_eq!(tools(session).await, ["keep_t", "my_keep"], "{way:?}");
        for tool in ["keep_t", "my_keep"] {
            let error = session.call(tool, json!({})).await.expect_err(tool);
            assert_eq!(error.code(), Some(-32000), "{way:?} {tool}: {error}");
            let data = json!({ "remote": "keep", "retry": true });
            assert_eq!(error.data(), Some(&data), "{way:?} {tool}");
        }
        for tool in ["hide_t", "my_hide"] {
            let error = session.call(tool, json!({})).await.expect_err(tool);
            assert_eq!(error.code(), Some(-32602), "{way:?} {tool}: {error}");
        }
    }

    let _mortal = Mortal::start_at(&puppet, mortal.address);
    for (way, session, events) in &mut clients {
        tools_changed(*way, events).await;
        assert_eq!(tools(session).await, ALL, "{way:?}");
        for tool in ALL {
            let called = async || session.call(tool, json!({})).await.is_ok();
            eventually(&format!("{way:?} {tool} is back"), called).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_required_remote_that_cannot_be_reached_ends_the_start_with_the_cause() {
    let address = free();
    let config = format!(
        "[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\nretry = {{ every = \"10ms\", most = 2 }}\n"
    );
    let config = Config::parse("servlet.toml".as_ref(), &config).expect("a configuration");
    let error = Remotes::default()
        .update(&config.settings.remotes)
        .await
        .expect_err("no server");
    let text = error.to_string();
    assert!(
        text.starts_with("remote `far` cannot be reached: "),
        "{text}"
    );
    assert!(text.contains("refused"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_remote_is_closed_and_comes_back_for_a_call() {
    let puppet = with_calls(&["2025-11-25"], json!([{ "result": { "content": [] } }]));
    let config = format!(
        "{WEB}{OLD}{PIPE}[remote.far]\nurl = \"http://{}/mcp\"\nrequired = true\nidle = \"200ms\"\n",
        puppet.http().await
    );
    let site = Site::start(&config, &[]).await;
    let ended = || {
        puppet
            .log()
            .iter()
            .filter(|one| one["http"] == "DELETE")
            .count()
    };
    for (number, (way, endpoint)) in WAYS.into_iter().enumerate() {
        let session = site.connect(way, endpoint).await;
        eventually("the end of the connection", async || ended() == number + 1).await;
        // Its tools stay listed meanwhile.
        assert_eq!(tools(&session).await, ["t"], "{way:?}");
        session.call("t", json!({})).await.expect("a result");
        assert_eq!(puppet.received("initialize"), number + 2, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_remote_can_be_chosen() {
    let names = ["get_city", "get_secret", "put_city"];
    let listed = names.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    let puppet = script(json!({
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": listed } }],
            "tools/call": [{ "result": { "content": [] } }],
        },
    }));
    let address = puppet.http().await;
    let far = format!("[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\n");
    let choice = "tools = { only = [\"get_*\"], except = [\"*_secret\"], prefix = \"my\" }\n";
    let site = Site::start(&format!("{WEB}{OLD}{PIPE}{far}{choice}"), &[]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["my_get_city"], "{way:?}");
        let called = session.call("my_get_city", json!({})).await;
        called.unwrap_or_else(|error| panic!("{way:?}: {error}"));
        let before = puppet.received("tools/call");
        for hidden in ["my_get_secret", "my_put_city", "get_city", "put_city"] {
            let error = session.call(hidden, json!({})).await.expect_err(hidden);
            assert_eq!(error.code(), Some(-32602), "{way:?} {hidden}: {error}");
        }
        assert_eq!(puppet.received("tools/call"), before, "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_of_a_remote_inherits_only_what_programs_need() {
    // Cargo sets it for tests.
    std::env::var("CARGO_MANIFEST_DIR").expect("a variable that is not inherited");
    let command = json!([puppet::program(), "environment"]);
    let far = format!(
        "[remote.far]\ncommand = {command}\nenv = {{ TOKEN = \"t-1\" }}\nrequired = true\n"
    );
    // Without a listener, the end of standard input would stop the service.
    let site = Site::start(&format!("{WEB}{PIPE}{far}"), &[]).await;
    let session = site.connect(Way::PipeModern, "pipe").await;
    let called = session.call("t", json!({})).await.expect("a result");
    let mut result: Value = serde_json::from_str(called.raw.get()).expect("JSON");
    let variables = result["structuredContent"].as_object_mut();
    // It marks the process and what it starts.
    let mark = variables.and_then(|variables| variables.remove("MCP_SERVLET_PROCESS"));
    assert!(mark.is_some(), "{result}");
    if cfg!(windows) {
        // Programs do not start without it.
        assert!(
            result["structuredContent"]["SYSTEMROOT"].is_string(),
            "{result}"
        );
        assert!(
            result["structuredContent"]["CARGO_MANIFEST_DIR"].is_null(),
            "{result}"
        );
        return;
    }
    let mut expected = json!({ "TOKEN": "t-1" });
    for name in ["PATH", "HOME", "LANG"] {
        if let Ok(value) = std::env::var(name) {
            expected[name] = value.into();
        }
    }
    assert_eq!(result["structuredContent"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_error_of_a_remote_is_logged_with_its_name() {
    log::start();
    let remote = connected("wordy", child("dies-in-call")).await;
    call(&remote).await.expect_err("it ends in the call");
    for line in ["about to crash", "out of memory"] {
        log::says(&format!(
            "INFO remote: {line} remote=\"wordy\" stream=\"stderr\""
        ))
        .await;
    }
    remote.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_of_two_tools_of_one_name_is_served_and_the_warning_names_both_remotes() {
    let says = |text: &str| {
        let content = json!([{ "type": "text", "text": text }]);
        with_calls(&BOTH, json!([{ "result": { "content": content } }]))
    };
    let urls = [says("one").http().await, says("two").http().await];
    let urls = urls.map(|address| format!("http://{address}/mcp"));
    let [one, two] = [("one", &urls[0]), ("two", &urls[1])].map(|(name, url)| {
        format!("[remote.{name}]\nurl = \"{url}\"\nrequired = true\ntools.prefix = \"never\"\n")
    });
    let site = Site::start(&format!("{WEB}{OLD}{PIPE}{one}{two}"), &[]).await;
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        assert_eq!(tools(&session).await, ["t"], "{way:?}");
        let called = session.call("t", json!({})).await.expect("a result");
        assert_eq!(called.text(), "one", "{way:?}");
    }
    let expected = "tool `t` of `two` is skipped: `one` already has the tool `t`";
    for server in site.service.servers() {
        let (endpoint, host) = (server.name().unwrap_or_default(), server.host());
        let problems: Vec<_> = host.problems().map(ToString::to_string).collect();
        assert_eq!(problems, [expected], "{endpoint}");
    }
}
