//! Remotes whose settings or lists change while they are served.

use std::{fs, sync::Arc, time::Duration};

use mcp_servlet_call::RequestMeta;
use mcp_servlet_client::{Event, Events, Session};
use mcp_servlet_config::Config;
use mcp_servlet_server::Remotes;
use puppet::{Puppet, eventually};
use serde_json::{Value, json};

use crate::{
    authority::Authority,
    log,
    site::{OLD, PIPE, Site, WAYS, WEB, Way, tools},
    support::{Mortal, script, with_calls},
};

/// A server with one tool that answers with this text.
fn saying(text: &str, wait: u64) -> Puppet {
    let result = json!({ "content": [{ "type": "text", "text": text }] });
    let replies = json!([{ "wait_ms": wait, "result": result }]);
    with_calls(&["2025-11-25", "2026-07-28"], replies)
}

/// A client of each transport, with the events that it hears.
async fn clients(site: &Site) -> Vec<(Way, Arc<Session>, Events)> {
    let mut clients = Vec::new();
    for (way, endpoint) in WAYS {
        let session = site.connect(way, endpoint).await;
        let events = session.watch(std::iter::empty::<String>()).await;
        clients.push((way, Arc::new(session), events.expect("events")));
    }
    clients
}

async fn call(session: &Session, tool: &str) -> String {
    let called = session.call(tool, json!({})).await;
    called.unwrap_or_else(|error| panic!("{error}")).text()
}

async fn hears_of_tools(way: Way, events: &mut Events) {
    let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
    let event = event.unwrap_or_else(|_| panic!("{way:?}: no event"));
    assert_eq!(
        event.expect("an event").expect("an event"),
        Event::ToolsChanged,
        "{way:?}"
    );
}

async fn hears_nothing(way: Way, events: &mut Events) {
    let event = tokio::time::timeout(Duration::from_millis(300), events.next()).await;
    assert!(event.is_err(), "{way:?}: {event:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_with_another_url_connects_before_it_is_used_and_calls_end_where_they_began() {
    let old = saying("old", 1500);
    let new = script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": {} },
        "replies": {
            "initialize": [{ "wait_ms": 700, "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "new", "version": "1" },
            } }],
            "tools/list": [{ "result": { "tools": [{ "name": "t", "inputSchema": { "type": "object" } }] } }],
            "tools/call": [{ "result": { "content": [{ "type": "text", "text": "new" }] } }],
        },
    }));
    let config = |address| {
        format!("{WEB}{OLD}{PIPE}[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\n")
    };
    let site = Site::start(&config(old.http().await), &[]).await;
    let clients = clients(&site).await;
    let running = clients.iter().map(|(_, session, _)| {
        let session = Arc::clone(session);
        tokio::spawn(async move { call(&session, "t").await })
    });
    let running: Vec<_> = running.collect();
    eventually("`tools/call`", async || {
        old.received("tools/call") == WAYS.len()
    })
    .await;
    site.write("servlet.toml", config(new.http().await));
    eventually("`initialize`", async || new.received("initialize") == 1).await;
    // The old one is served until the new one is connected.
    for (way, session, _) in &clients {
        assert_eq!(tools(session).await, ["t"], "{way:?}");
    }
    for (way, session, _) in &clients {
        eventually("the new one", async || call(session, "t").await == "new").await;
        assert_eq!(tools(session).await, ["t"], "{way:?}");
    }
    for call in running {
        assert_eq!(call.await.expect("no panic"), "old");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_replaced_remote_has_limited_time() {
    let config = |address| {
        let far = format!("[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\n");
        Config::parse("servlet.toml".as_ref(), &far).expect("a configuration")
    };
    let (old, new) = (saying("old", 60_000), saying("new", 0));
    let mut first = config(old.http().await);
    first.settings.remotes[0].options.drain = Duration::from_millis(200);
    let second = config(new.http().await);
    let remotes = Remotes::default();
    let former = remotes
        .update(&first.settings.remotes)
        .await
        .expect("a remote");
    remotes.are_served();
    let request_meta = RequestMeta::default();
    let called = former[0].member.call_with("t", None, &request_meta);
    let replaced = async {
        eventually("`tools/call`", async || old.received("tools/call") == 1).await;
        remotes
            .update(&second.settings.remotes)
            .await
            .expect("a remote");
        remotes.are_served();
    };
    let (called, ()) = tokio::join!(called, replaced);
    let error = called.expect_err("it takes a minute").to_string();
    assert!(error.contains("the host no longer uses it"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_cannot_be_reached_replaces_the_old_one_only_if_it_is_not_required() {
    log::start();
    let old = saying("old", 0);
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let gone = free.local_addr().expect("a port");
    drop(free);
    let config = |address, required| {
        format!(
            "{WEB}{OLD}{PIPE}[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = {required}\n"
        )
    };
    let address = old.http().await;
    let site = Site::start(&config(address, true), &[]).await;
    let clients = clients(&site).await;
    site.write("servlet.toml", config(gone, true));
    log::says("reload failed, still serving the previous version: remote `far` cannot be reached")
        .await;
    for (way, session, _) in &clients {
        assert_eq!(call(session, "t").await, "old", "{way:?}");
    }
    site.write("servlet.toml", config(gone, false));
    let (_, session, _) = &clients[0];
    eventually("the new settings", async || tools(session).await.is_empty()).await;
    site.write("servlet.toml", config(address, false));
    for (way, session, _) in &clients {
        eventually("the old URL", async || tools(session).await == ["t"]).await;
        assert_eq!(call(session, "t").await, "old", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_required_remote_that_is_down_holds_up_no_other_change() {
    let mut far = Mortal::start(&saying("far", 0));
    let address = far.address;
    let config = |prefix: &str| {
        format!(
            "{WEB}{OLD}{PIPE}[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\ntools.prefix = \"{prefix}\"\n"
        )
    };
    let site = Site::start(&config("a"), &[]).await;
    let clients = clients(&site).await;
    far.kill();
    let (_, session, _) = &clients[0];
    let is_down = async || session.call("a_t", json!({})).await.is_err();
    eventually("the outage", is_down).await;
    site.write("servlet.toml", config("b"));
    for (way, session, _) in &clients {
        let what = format!("{way:?}: the new prefix");
        eventually(&what, async || tools(session).await == ["b_t"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_that_fails_leaves_what_it_has_started_to_the_next_one() {
    for retry in ["", "retry.most = 0\n"] {
        let far = saying("far", 0);
        let mut late = Mortal::start(&saying("late", 0));
        let address = late.address;
        late.kill();
        let config = format!(
            "[remote.far]\nurl = \"http://{}/mcp\"\nrequired = true\n\
             [remote.late]\nurl = \"http://{address}/mcp\"\nrequired = true\n{retry}",
            far.http().await
        );
        let config = Config::parse("servlet.toml".as_ref(), &config).expect("a configuration");
        let entries = &config.settings.remotes;
        let remotes = Remotes::default();
        remotes.update(&[]).await.expect("no remote");
        remotes.are_served();
        for _ in 0..3 {
            let error = remotes.update(entries).await.expect_err("one is down");
            assert_eq!(error.name, "late");
        }
        let _late = Mortal::start_at(&saying("late", 0), address);
        eventually("both", async || remotes.update(entries).await.is_ok()).await;
        let handshakes = far.received("initialize") + far.received("server/discover");
        assert_eq!(handshakes, 1, "{retry}");
    }
}

/// It takes the 10 seconds after which a reload is tried again.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_that_failed_because_of_a_remote_is_tried_again() {
    log::start();
    let mut new = Mortal::start(&saying("new", 0));
    let address = new.address;
    new.kill();
    let config = |address| {
        format!("{WEB}{OLD}{PIPE}[remote.late]\nurl = \"http://{address}/mcp\"\nrequired = true\n")
    };
    let old = saying("old", 0).http().await;
    let site = Site::start(&config(old), &[]).await;
    let session = site.connect(Way::HttpModern, "web").await;
    site.write("servlet.toml", config(address));
    log::says("reload failed, still serving the previous version: remote `late` cannot be reached")
        .await;
    assert_eq!(call(&session, "t").await, "old");
    let _new = Mortal::start_at(&saying("new", 0), address);
    eventually("the new one", async || call(&session, "t").await == "new").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_tool_that_does_not_fit_a_required_remote_keeps_the_previous_version() {
    log::start();
    let (first, second) = (saying("first", 0), saying("second", 0));
    let addresses = (first.http().await, second.http().await);
    let config = |address, tool: &str| {
        format!(
            "{WEB}{OLD}{PIPE}[remote.far]\nurl = \"http://{address}/mcp\"\nrequired = true\n\
             [bundle.ops.tool.run]\nhandler = \"far:{tool}\"\n"
        )
    };
    let site = Site::start(&config(addresses.0, "t"), &[]).await;
    let clients = clients(&site).await;
    let handshakes = || first.received("initialize") + first.received("server/discover");
    let before = handshakes();
    site.write("servlet.toml", config(addresses.1, "no_such_tool"));
    log::says("remote `far` has no tool `no_such_tool`").await;
    for (way, session, _) in &clients {
        assert_eq!(call(session, "run").await, "first", "{way:?}");
    }
    let more = "[bundle.ops.tool.more]\nhandler = \"far:t\"\n";
    site.write("servlet.toml", config(addresses.0, "t") + more);
    for (way, session, _) in &clients {
        let has_more = async || tools(session).await.contains(&"more".to_owned());
        eventually("the new tool", has_more).await;
        assert_eq!(call(session, "more").await, "first", "{way:?}");
    }
    assert_eq!(
        handshakes(),
        before,
        "the connection that is served is used again"
    );
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_remote_with_another_command_starts_before_it_is_used_and_the_old_process_ends() {
    let config = |script: &str| {
        let program = puppet::program();
        let line = format!("echo $$$$ >> pids; exec '{program}' {script}");
        let command = json!(["sh", "-c", line]);
        format!("{WEB}{OLD}{PIPE}[remote.far]\ncommand = {command}\nrequired = true\n")
    };
    let site = Site::start(&config("first"), &[]).await;
    let pids = || {
        let text = fs::read_to_string(site.path("pids")).expect("a file");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let lives = |pid: &String| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat"));
        status.is_ok_and(|status| !status.contains(") Z "))
    };
    let clients = clients(&site).await;
    let running = clients.iter().map(|(_, session, _)| {
        let session = Arc::clone(session);
        tokio::spawn(async move { call(&session, "say").await })
    });
    let running: Vec<_> = running.collect();
    let all = format!("servlet_calls_running {}\n", WAYS.len());
    eventually(&all, async || site.service.metrics().contains(&all)).await;
    site.write("servlet.toml", config("second"));
    for (_, session, _) in &clients {
        eventually("the new one", async || {
            call(session, "say").await == "second"
        })
        .await;
    }
    for call in running {
        assert_eq!(call.await.expect("no panic"), "first");
    }
    let [first, second] = &pids()[..] else {
        panic!("two processes, not {:?}", pids());
    };
    eventually("the end of the first process", async || !lives(first)).await;
    assert!(lives(second));
    // Without the remote, its process ends too.
    site.write("servlet.toml", format!("{WEB}{OLD}{PIPE}"));
    eventually("the end of the second process", async || !lives(second)).await;
    let (_, session, _) = &clients[0];
    let gone = session
        .call("say", json!({}))
        .await
        .expect_err("it is gone");
    assert_eq!(gone.code(), Some(-32602), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_certificates_are_read_again_and_bad_ones_leave_the_old_connection() {
    log::start();
    let authority = Authority::new();
    let url = authority.serve(false).await;
    let roots = |authority: &Authority| fs::read(authority.roots()).expect("a file");
    let far = format!(
        "[remote.secured]\nurl = \"{url}/mcp\"\ntls.ca = \"ca.pem\"\nrequired = true\nretry.most = 0\n"
    );
    let config = format!("{WEB}{OLD}{PIPE}{far}");
    let site = Site::start(&config, &[("ca.pem", &roots(&authority))]).await;
    let session = site.connect(Way::PipeModern, "pipe").await;
    let oslo = json!({ "city": "Oslo" });
    for (certificates, problem) in [
        (
            roots(&Authority::new()),
            "still serving the previous version: remote `secured` cannot be reached",
        ),
        (b"none".to_vec(), "ca.pem` has no valid certificate in PEM"),
    ] {
        site.write("ca.pem", certificates);
        log::says(problem).await;
        let called = session.call("weather", oslo.clone()).await;
        assert_eq!(called.expect("a result").text(), "Oslo");
    }
    let served = || site.service.server().host();
    let before = served();
    let both = [roots(&Authority::new()), roots(&authority)].concat();
    site.write("ca.pem", both);
    eventually("the new certificates", async || {
        !Arc::ptr_eq(&before, &served())
    })
    .await;
    let called = session.call("weather", oslo).await;
    assert_eq!(called.expect("a result").text(), "Oslo");
}

/// A server with one tool. Each call replaces the tool by the next of these names.
fn changing(names: &[&str]) -> Puppet {
    let list = |name: &&str| {
        let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        json!({ "result": { "tools": [tool] } })
    };
    let lists: Vec<Value> = names.iter().map(list).collect();
    let change = json!({ "method": "notifications/tools/list_changed" });
    script(json!({
        "versions": ["2025-11-25"],
        "capabilities": { "tools": { "listChanged": true } },
        "replies": {
            "tools/list": lists,
            "tools/call": [{ "before": [change], "sse": true, "result": { "content": [] } }],
        },
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_tool_whose_handler_disappears_is_hidden_until_it_is_back() {
    log::start();
    let far = changing(&["t", "u", "t"]);
    let near = saying("near", 0);
    let remotes = format!(
        "[remote.hides]\nurl = \"http://{}/mcp\"\nrequired = true\n[remote.near]\nurl = \"http://{}/mcp\"\nrequired = true\n",
        far.http().await,
        near.http().await
    );
    // Two endpoints have the tool, over each transport, and one does not.
    let bundle = "[bundle.ops.tool.run]\nhandler = \"hides:t\"\n[endpoint.other]\nkind = \"http\"\n\
        listener = \"local\"\npath = \"/other\"\nbundles = [\"near\"]\n[endpoint.direct]\nkind = \"http\"\n\
        listener = \"local\"\npath = \"/direct\"\nbundles = [\"hides\"]\n";
    let ops = "bundles = [\"ops\", \"near\"]\n";
    let site = Site::start(
        &format!("{WEB}{ops}{OLD}{ops}{PIPE}{ops}{remotes}{bundle}"),
        &[],
    )
    .await;
    let mut clients = clients(&site).await;
    let other = site.connect(Way::HttpModern, "other").await;
    let mut others = other
        .watch(std::iter::empty::<String>())
        .await
        .expect("events");
    let direct = site.connect(Way::HttpModern, "direct").await;
    for (way, session, _) in &clients {
        assert_eq!(tools(session).await, ["run", "t"], "{way:?}");
    }
    call(&direct, "t").await;
    for (way, session, events) in &mut clients {
        hears_of_tools(*way, events).await;
        assert_eq!(tools(session).await, ["t"], "{way:?}");
        let hidden = session
            .call("run", json!({}))
            .await
            .expect_err("it is hidden");
        assert_eq!(hidden.code(), Some(-32602), "{way:?}: {hidden}");
    }
    log::says("remote `hides` has no tool `t`").await;
    eventually("the new list", async || tools(&direct).await == ["u"]).await;
    call(&direct, "u").await;
    for (way, session, events) in &mut clients {
        hears_of_tools(*way, events).await;
        assert_eq!(tools(session).await, ["run", "t"], "{way:?}");
        hears_nothing(*way, events).await;
    }
    hears_nothing(Way::HttpModern, &mut others).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_cannot_take_over_the_name_of_a_virtual_tool() {
    log::start();
    let (liar, near) = (changing(&["t", "run"]), saying("near", 0));
    let (liar, near) = (liar.http().await, near.http().await);
    let remotes = format!(
        "[remote.liar]\nurl = \"http://{liar}/mcp\"\nrequired = true\ntools.prefix = \"never\"\n\
         [remote.near]\nurl = \"http://{near}/mcp\"\nrequired = true\n"
    );
    let bundle = "[bundle.ops.tool.run]\nhandler = \"near:t\"\n";
    let listed = "bundles = [\"liar\", \"ops\"]\n";
    let site = Site::start(
        &format!("{WEB}{listed}{OLD}{listed}{PIPE}{listed}{remotes}{bundle}"),
        &[],
    )
    .await;
    let mut clients = clients(&site).await;
    assert_eq!(call(&clients[0].1, "run").await, "near");
    call(&clients[0].1, "t").await;
    for (way, session, events) in &mut clients {
        hears_of_tools(*way, events).await;
        assert_eq!(tools(session).await, ["run"], "{way:?}");
        assert_eq!(call(session, "run").await, "near", "{way:?}");
    }
    log::says("`[bundle.ops]` already has the tool `run`").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_endpoints_that_list_a_changed_remote_notify_their_clients() {
    let one = saying("one", 0);
    let address = one.http().await;
    let config = |prefix: &str| {
        format!(
            "{WEB}bundles = [\"far\"]\n{OLD}bundles = []\n{PIPE}bundles = [\"far\"]\n[remote.far]\n\
            url = \"http://{address}/mcp\"\nrequired = true\ntools.prefix = \"{prefix}\"\n"
        )
    };
    let site = Site::start(&config("a"), &[]).await;
    let mut clients = clients(&site).await;
    site.write("servlet.toml", config("b"));
    for (way, session, events) in &mut clients {
        if *way == Way::Sse {
            continue;
        }
        hears_of_tools(*way, events).await;
        assert_eq!(tools(session).await, ["b_t"], "{way:?}");
    }
    let (way, _, events) = clients
        .iter_mut()
        .find(|(way, ..)| *way == Way::Sse)
        .expect("one");
    hears_nothing(*way, events).await;
    // The connection is the same.
    assert_eq!(
        one.received("initialize") + one.received("server/discover"),
        1
    );
}
