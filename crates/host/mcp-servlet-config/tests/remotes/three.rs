//! Three remotes behind one server. One is killed, hangs or lies, and clients of each transport use the others.

use std::{
    fs,
    net::TcpListener,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_servlet_client::Session;
use puppet::{Puppet, eventually};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    site::{OLD, PIPE, Site, WAYS, WEB, Way, tools},
    support::{Mortal, bind, script, with_calls},
};

const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// How often the clients of each transport call the good remotes.
const PACE: Duration = Duration::from_millis(20);

/// How many calls of all clients an outage lasts. A process that does not answer for long would be started again.
const CALLS: usize = 100;

/// A server, and a client of each transport.
struct Three {
    site: Site,
    clients: Vec<(Way, Arc<Session>)>,
}

/// Clients that call the good remotes all the time.
struct Load {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<()>>,
}

/// The section of a remote. All names of tools have the remote's name as a prefix.
fn remote(name: &str, target: &str) -> String {
    let settings =
        "timeout = \"1s\"\nconnect = \"1s\"\nretry.every = \"100ms\"\ntools.prefix = \"name\"\n";
    format!("[remote.{name}]\n{target}\n{settings}")
}

/// The command that plays a script, and writes its process id to a file.
fn command(script: &str) -> String {
    let program = puppet::program();
    let line = format!("echo $$$$ > pid; exec '{program}' {script}");
    format!("command = [\"sh\", \"-c\", \"{line}\"]")
}

impl Three {
    /// Two good remotes, one of each kind, and one that fails.
    async fn start(target: &str) -> Self {
        let good = with_calls(&BOTH, json!([{ "result": { "content": [] } }]));
        let url = format!("url = \"http://{}/mcp\"", good.http().await);
        let child = format!("command = [\"{}\", \"plain\"]", puppet::program());
        let remotes = [("one", &*url), ("two", &child), ("three", target)];
        let remotes = remotes.map(|(name, target)| remote(name, target)).concat();
        let site = Site::start(&format!("{WEB}{OLD}{PIPE}{remotes}"), &[]).await;
        let mut clients = Vec::new();
        for (way, endpoint) in WAYS {
            let session = site.connect(way, endpoint).await;
            eventually("three remotes", async || tools(&session).await.len() == 3).await;
            clients.push((way, Arc::new(session)));
        }
        Self { site, clients }
    }

    /// Calls the good remotes from each client.
    fn load(&self) -> Load {
        let (stop, calls) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let clients = self.clients.iter();
        let tasks = clients.map(|(way, session)| {
            let (way, session) = (*way, Arc::clone(session));
            let (stop, calls) = (Arc::clone(&stop), Arc::clone(&calls));
            tokio::spawn(async move {
                let mut pace = tokio::time::interval(PACE);
                while !stop.load(Ordering::Relaxed) {
                    pace.tick().await;
                    for (tool, arguments) in [
                        ("one_t", json!({})),
                        ("two_weather", json!({ "city": "Oslo" })),
                    ] {
                        let called = session.call(tool, arguments).await;
                        called.unwrap_or_else(|error| panic!("{way:?} {tool}: {error}"));
                        calls.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        });
        let tasks = tasks.collect();
        Load { stop, calls, tasks }
    }

    /// Calls the third remote from each client. The calls fail with one of these codes.
    async fn fails(&self, tool: &str, codes: &[i64]) {
        let calls = self.clients.iter().map(|(way, session)| async move {
            let error = session.call(tool, json!({})).await.expect_err("no result");
            assert!(
                error.code().is_some_and(|code| codes.contains(&code)),
                "{way:?}: {error}"
            );
            let data = error.data().cloned().unwrap_or_default();
            assert_eq!(data["remote"], "three", "{way:?}: {error}");
        });
        futures_util::future::join_all(calls).await;
    }

    /// Checks that the third remote answers each client again.
    async fn is_back(&self, tool: &str) {
        let calls = self.clients.iter().map(|(way, session)| async move {
            eventually(format!("an answer, {way:?}"), async || {
                session.call(tool, json!({ "city": "Oslo" })).await
            })
            .await;
        });
        futures_util::future::join_all(calls).await;
    }

    fn pid(&self) -> String {
        let text = fs::read_to_string(self.site.path("pid")).expect("a file");
        text.trim().to_owned()
    }
}

impl Load {
    /// Waits for this many more calls.
    async fn more(&self, calls: usize) {
        let wanted = self.calls.load(Ordering::Relaxed) + calls;
        eventually(format!("{calls} calls"), async || {
            self.calls.load(Ordering::Relaxed) >= wanted
        })
        .await;
    }

    /// Ends the load after four calls per client on average. Panics if a call was not answered.
    async fn end(self) {
        self.more(4 * self.tasks.len()).await;
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.expect("each call is answered");
        }
    }
}

fn signal(name: &str, pid: &str) {
    let sent = Command::new("kill").args([name, pid]).status();
    assert!(sent.expect("the command runs").success(), "{name} {pid}");
}

fn good() -> Puppet {
    with_calls(&BOTH, json!([{ "result": { "content": [] } }]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_url_is_alone_and_back() {
    let puppet = good();
    let mut mortal = Mortal::start(&puppet);
    let three = Three::start(&format!("url = \"http://{}/mcp\"", mortal.address)).await;
    let load = three.load();
    mortal.kill();
    three.fails("three_t", &[-32000]).await;
    load.more(CALLS).await;
    three.fails("three_t", &[-32000]).await;
    let _mortal = Mortal::start_at(&puppet, mortal.address);
    three.is_back("three_t").await;
    load.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_accepts_and_never_answers_is_alone_and_back() {
    let puppet = good();
    let mut mortal = Mortal::start(&puppet);
    let three = Three::start(&format!("url = \"http://{}/mcp\"", mortal.address)).await;
    let load = three.load();
    mortal.kill();
    // The kernel accepts connections for it.
    let silent: TcpListener = bind(mortal.address);
    // A call is sent, or waits for a connection.
    three.fails("three_t", &[-32603, -32000]).await;
    load.more(2 * CALLS).await;
    drop(silent);
    let _mortal = Mortal::start_at(&puppet, mortal.address);
    three.is_back("three_t").await;
    load.end().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_is_alone_and_back() {
    let three = Three::start(&command("plain")).await;
    let load = three.load();
    for _ in 0..3 {
        let pid = three.pid();
        signal("-KILL", &pid);
        three.is_back("three_weather").await;
        assert_ne!(three.pid(), pid);
    }
    load.end().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_process_is_alone_and_back() {
    let three = Three::start(&command("plain")).await;
    let load = three.load();
    let pid = three.pid();
    signal("-STOP", &pid);
    three.fails("three_weather", &[-32603]).await;
    load.more(CALLS).await;
    signal("-CONT", &pid);
    three.is_back("three_weather").await;
    load.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_lies_is_alone_and_back() {
    let lies = [
        json!({ "result": { "content": "none" } }),
        json!({ "result": [] }),
        json!({ "error": { "code": 1.5, "message": 7 } }),
        json!({ "line": "{\"jsonrpc\":\"2.0\",\"id\":$id}" }),
        json!({ "result": { "content": [], "resultType": "promise" } }),
    ];
    // Each client hears each lie once, and then the truth.
    let clients = WAYS.len();
    let mut replies: Vec<Value> = Vec::new();
    for lie in &lies {
        replies.extend(std::iter::repeat_n(lie.clone(), clients));
    }
    replies.push(json!({ "result": { "content": [] } }));
    let liar = with_calls(&["2026-07-28"], replies.into());
    let three = Three::start(&format!("url = \"http://{}/mcp\"", liar.http().await)).await;
    let load = three.load();
    for lie in &lies {
        let before = liar.received("tools/call");
        three.fails("three_t", &[-32603]).await;
        assert_eq!(liar.received("tools/call"), before + clients, "{lie}");
    }
    three.is_back("three_t").await;
    load.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_lies_when_it_connects_is_alone_and_back() {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    let listed = json!({ "result": { "tools": [tool] } });
    let puppet = |first: Value| {
        script(json!({
            "versions": ["2025-11-25"],
            "capabilities": { "tools": {} },
            "replies": {
                "initialize": [first],
                "tools/list": [listed],
                "tools/call": [{ "result": { "content": [] } }],
            },
        }))
    };
    let opened = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "p", "version": "1" } });
    let good = puppet(json!({ "result": opened }));
    let mut mortal = Mortal::start(&good);
    let three = Three::start(&format!("url = \"http://{}/mcp\"", mortal.address)).await;
    let load = three.load();
    mortal.kill();
    three.fails("three_t", &[-32000]).await;
    let liar = puppet(json!({ "result": { "protocolVersion": 7 } }));
    let mut lies = Mortal::start_at(&liar, mortal.address);
    eventually("`initialize`", async || liar.received("initialize") > 1).await;
    three.fails("three_t", &[-32000]).await;
    lies.kill();
    let _mortal = Mortal::start_at(&good, mortal.address);
    three.is_back("three_t").await;
    load.end().await;
}
