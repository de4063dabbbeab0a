//! `servlet serve` with the endpoints of a configuration.

mod folder;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Lines, Write as _},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
};

use mcp_servlet_client::{Era, Http, HttpTransport, Options, Session, Target};
use puppet::Puppet;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::folder::folder;

const CONFIG: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.web]\nkind = \"http\"\nlistener = \"local\"\nname = \"web\"\n\
    [endpoint.old]\nkind = \"sse\"\nlistener = \"local\"\nname = \"old\"\n\
    [servlet.a]\nsource = \"a.wasm\"\n";

const PIPE: &str = "[endpoint.pipe]\nkind = \"stdio\"\nname = \"pipe\"\n";

/// A running server. It is killed when this value is dropped.
struct Server {
    child: Child,
    /// None once it is closed.
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
    _folder: TempDir,
}

impl Server {
    fn start(config: &str) -> Self {
        let folder = folder(config);
        let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
        command.args(["serve", "servlet.toml"]).current_dir(&folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("a pipe")).lines(),
            log: BufReader::new(child.stderr.take().expect("a pipe")).lines(),
            child,
            _folder: folder,
        }
    }

    /// The URLs of this many endpoints, by their names.
    fn urls(&mut self, count: usize) -> BTreeMap<String, String> {
        let lines = self.log.by_ref().map(|line| line.expect("a line"));
        let urls = lines.filter_map(|line| {
            let (name, url) = line.split_once(": listening on ")?;
            Some((name.strip_prefix("endpoint ")?.to_owned(), url.to_owned()))
        });
        urls.take(count).collect()
    }

    /// Sends a request over standard input, and returns its result.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.input.as_mut().expect("an open pipe"), "{request}")
            .expect("the server reads");
        let line = self.output.next().expect("a line").expect("a line");
        let mut response: Value = serde_json::from_str(&line).expect("JSON");
        response["result"].take()
    }

    /// Opens the session over standard input, and returns the name of the server.
    fn open(&mut self) -> Value {
        let client = json!({ "name": "c", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.ask("initialize", params)["serverInfo"]["name"].take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn call(url: &str, transport: HttpTransport) -> (String, String) {
    let http = Http::new(url).expect("a URL").transport(transport);
    let target = Target::Http(Box::new(http));
    let session = Session::connect_with(&target, &Options::new())
        .await
        .expect("a session");
    let text = session.call("t", json!({})).await.expect("a result").text();
    (format!("{:?}", session.server()), text)
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_all_endpoints_of_a_configuration() {
    let mut server = Server::start(&format!("{CONFIG}{PIPE}"));
    let urls = server.urls(2);
    assert!(
        urls["web"].ends_with("/mcp") && urls["old"].ends_with("/sse"),
        "{urls:?}"
    );
    assert_eq!(server.open(), "pipe");
    let called = server.ask("tools/call", json!({ "name": "t" }));
    assert_eq!(called["content"][0]["text"], "answer");
    for (endpoint, transport) in [
        ("web", HttpTransport::Streamable),
        ("old", HttpTransport::Sse),
    ] {
        let (name, text) = call(&urls[endpoint], transport).await;
        assert!(name.contains(endpoint), "{name}");
        assert_eq!(text, "answer");
    }
    // The client finds out by itself that the endpoint is older.
    let (name, _) = call(&urls["old"], HttpTransport::Auto).await;
    assert!(name.contains("old"), "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_one_client_ends_with_it_and_others_go_on() {
    let servlet = "[servlet.a]\nsource = \"a.wasm\"\n";
    let mut alone = Server::start(&format!("{PIPE}{servlet}"));
    assert_eq!(alone.open(), "pipe");
    alone.input = None;
    assert!(alone.child.wait().expect("it ends").success());

    let mut several = Server::start(&format!("{CONFIG}{PIPE}"));
    let urls = several.urls(2);
    assert_eq!(several.open(), "pipe");
    several.input = None;
    let (_, text) = call(&urls["web"], HttpTransport::Streamable).await;
    assert_eq!(text, "answer");
}

/// A remote whose tool `search` finds something once, and is busy after that.
fn busy_after_one_call() -> Puppet {
    let tool = json!({ "name": "search", "inputSchema": { "type": "object" } });
    let found = json!({ "content": [{ "type": "text", "text": "found" }] });
    let busy = json!({ "code": -32005, "message": "slow down", "data": { "retry": 30 } });
    let script = json!({
        "capabilities": { "tools": {} },
        "replies": {
            "tools/list": [{ "result": { "tools": [tool] } }],
            "tools/call": [{ "result": found }, { "error": busy }],
        },
    });
    Puppet::with(serde_json::from_value(script).expect("a script"))
}

/// Two remotes, one over HTTP and one that is this command, and virtual tools over a servlet and over a remote.
fn everything(address: &str) -> String {
    let servlet = json!([env!("CARGO_BIN_EXE_servlet"), "serve", "a.wasm"]);
    let remotes = format!(
        "[remote.web]\nurl = \"http://{address}/mcp\"\nrequired = true\n\
         [remote.near]\ncommand = {servlet}\nrequired = true\ntools.prefix = \"name\"\n"
    );
    let bundle = r#"
[bundle.ops.tool.run]
handler = "a:t"
[bundle.ops.tool.run.result]
content = [{ type = "text", text = "<${{ result.content[0].text }}>" }]
[bundle.ops.tool.find]
handler = "web:search"
[[bundle.ops.tool.find.catches]]
code = "SERVER_ERROR"
error = { code = -32001, message = "busy: ${{ error.message }}", data = { retry = "${{ error.data.retry }}" } }
"#;
    format!("{PIPE}[servlet.a]\nsource = \"a.wasm\"\n{remotes}{bundle}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_starts_the_server_uses_servlets_bundles_and_remotes() {
    for era in [Era::Handshake, Era::Stateless] {
        let puppet = busy_after_one_call();
        let folder = folder(&everything(&puppet.http().await.to_string()));
        let command = mcp_servlet_client::Command::new(env!("CARGO_BIN_EXE_servlet"))
            .args(["serve", "servlet.toml"])
            .current_dir(folder.path());
        let session = Session::connect_with(&command.into(), &Options::new().era(era))
            .await
            .unwrap_or_else(|error| panic!("{era:?}: {error}"));
        assert_eq!(session.server().is_stateless(), era == Era::Stateless);
        let name = session.server().name();
        assert!(name.starts_with("pipe "), "{era:?}: {name}");

        let lists = session.lists().await.expect("lists");
        let tools = json!(lists.tools.expect("tools"));
        let tools = tools.as_array().expect("an array").iter();
        let names: Vec<_> = tools.map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, ["t", "search", "near_t", "run", "find"], "{era:?}");

        for (tool, text) in [
            ("t", "answer"),
            ("run", "<answer>"),
            ("near_t", "answer"),
            ("search", "found"),
        ] {
            let called = session.call(tool, json!({})).await;
            let called = called.unwrap_or_else(|error| panic!("{era:?} {tool}: {error}"));
            assert_eq!(called.text(), text, "{era:?} {tool}");
        }
        let error = session.call("find", json!({})).await.expect_err("busy");
        assert_eq!(error.code(), Some(-32001), "{era:?}: {error}");
        assert_eq!(error.message(), "busy: slow down", "{era:?}");
        assert_eq!(error.data(), Some(&json!({ "retry": 30 })), "{era:?}");
        session.close().await;
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let mut server = Server::start(&CONFIG.replace("127.0.0.1:0", &address));
    assert_eq!(server.child.wait().expect("it ends").code(), Some(2));
    let line = server.log.next().expect("a line").expect("a line");
    let expected =
        format!("error: cannot listen on `{address}`: `[listener.local]`: Address already in use");
    assert!(line.starts_with(&expected), "{line}");
    let help = server.log.next().expect("a line").expect("a line");
    assert!(help.contains("choose another port"), "{help}");
}
