//! `servlet serve` with the endpoints of a configuration.

mod folder;
#[path = "../../../host/mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::process::Command;

use mcp_servlet_client::{Era, Http, HttpTransport, Options, Session, Target};
use puppet::Puppet;
use serde_json::json;
use tempfile::TempDir;
use wire::Process;

use crate::folder::folder;

const CONFIG: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.web]\nkind = \"http\"\nlistener = \"local\"\nname = \"web\"\n\
    [endpoint.old]\nkind = \"sse\"\nlistener = \"local\"\nname = \"old\"\n\
    [servlet.a]\nsource = \"a.wasm\"\n";

const PIPE: &str = "[endpoint.pipe]\nkind = \"stdio\"\nname = \"pipe\"\n";

/// A server, and the folder with its configuration.
fn start(config: &str) -> (Process, TempDir) {
    let folder = folder(config);
    let mut command = Command::new(env!("CARGO_BIN_EXE_servlet"));
    command.args(["serve", "servlet.toml"]).current_dir(&folder);
    (Process::connect(command), folder)
}

/// The URL of an endpoint.
fn url(server: &Process, endpoint: &str) -> String {
    server.said_after(&format!("endpoint {endpoint}: listening on "))
}

/// Opens a session over standard input, and checks the name of the server.
fn open(server: &Process) {
    assert_eq!(server.open(json!({}))["serverInfo"]["name"], "pipe");
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
    let (server, _folder) = start(&format!("{CONFIG}{PIPE}"));
    let (web, old) = (url(&server, "web"), url(&server, "old"));
    assert!(
        web.ends_with("/mcp") && old.ends_with("/sse"),
        "{web} {old}"
    );
    open(&server);
    assert_eq!(server.call("t", &json!({})), "answer");
    for (endpoint, url, transport) in [
        ("web", &web, HttpTransport::Streamable),
        ("old", &old, HttpTransport::Sse),
    ] {
        let (name, text) = call(url, transport).await;
        assert!(name.contains(endpoint), "{name}");
        assert_eq!(text, "answer");
    }
    // The client finds out by itself that the endpoint is older.
    let (name, _) = call(&old, HttpTransport::Auto).await;
    assert!(name.contains("old"), "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_one_client_ends_with_it_and_others_go_on() {
    let servlet = "[servlet.a]\nsource = \"a.wasm\"\n";
    let (mut alone, _folder) = start(&format!("{PIPE}{servlet}"));
    open(&alone);
    alone.leave();
    assert!(alone.ended().success());

    let (several, _folder) = start(&format!("{CONFIG}{PIPE}"));
    let web = url(&several, "web");
    open(&several);
    several.leave();
    let (_, text) = call(&web, HttpTransport::Streamable).await;
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
    let (mut server, _folder) = start(&CONFIG.replace("127.0.0.1:0", &address));
    assert_eq!(server.ended().code(), Some(2));
    let printed = server.printed();
    let mut lines = printed.lines();
    let line = lines.next().expect("a line");
    let expected =
        format!("error: cannot listen on `{address}`: `[listener.local]`: Address already in use");
    assert!(line.starts_with(&expected), "{line}");
    let help = lines.next().expect("a line");
    assert!(help.contains("choose another port"), "{help}");
}
