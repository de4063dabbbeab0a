//! Changes of the configuration while it is served.

use std::{
    io,
    sync::{Mutex, Once},
    time::Duration,
};

use mcp_servlet_client::{Event, Session};

use crate::site::{OLD, PIPE, Site, WEB, Way, eventually, servlet, tools};

const SERVLETS: &str = "[servlet.a]\nsource = \"a.wasm\"\n[servlet.b]\nsource = \"b.wasm\"\n";

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn start_log() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let log = tracing_subscriber::fmt().with_env_filter("mcp_servlet_server::config=warn");
        log.with_writer(|| Log).with_ansi(false).init();
    });
}

async fn says(text: &str) {
    eventually(text, async || {
        let log = LOG.lock().expect("no panic");
        String::from_utf8_lossy(&log).contains(text)
    })
    .await;
}

async fn site(config: &str) -> Site {
    start_log();
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
    let event = tokio::time::timeout(Duration::from_mins(1), web_events.next()).await;
    assert_eq!(
        event
            .expect("in time")
            .expect("an event")
            .expect("an event"),
        Event::ToolsChanged
    );
    assert_eq!(tools(&web).await, ["y", "x"]);
    // The next change concerns both; the other endpoint hears nothing before it.
    site.write("a.wasm", servlet(&["z"], "a"));
    serves(&web, &["y", "z"]).await;
    let event = tokio::time::timeout(Duration::from_mins(1), old_events.next()).await;
    assert_eq!(
        event
            .expect("in time")
            .expect("an event")
            .expect("an event"),
        Event::ToolsChanged
    );
    assert_eq!(tools(&old).await, ["z"]);
    let more = tokio::time::timeout(Duration::from_millis(300), old_events.next()).await;
    assert!(more.is_err(), "{more:?}");
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
        says(&format!(
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
    says("there is no servlet, remote or bundle `aa`; did you mean `a`?").await;
    assert_eq!(tools(&session).await, ["x"]);
}
