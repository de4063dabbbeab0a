//! A configuration that changes while it is being served.

#[allow(dead_code, reason = "tests of the server use the rest")]
#[path = "../../../mcp-servlet-server/tests/serve/client.rs"]
mod client;
#[path = "../../../mcp-servlet-server/tests/serve/log.rs"]
mod log;
#[path = "../../../mcp-servlet-host/tests/support/mod.rs"]
mod support;

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
};

use mcp_servlet_config::Config;
use mcp_servlet_server::{HttpOptions, Plan};
use puppet::eventually_blocking;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    client::{Served, notifications},
    log::{LOG, start_log},
    support::Wat,
};

const ONE: &str = "[servlet.a]\nsource = \"a.wasm\"\nallow = { hosts = [\"127.0.0.1\"] }\n";

/// A server that watches a configuration in a temporary folder.
struct Watched {
    served: Served,
    folder: TempDir,
}

impl Watched {
    fn start(config: &str, wasm: &[u8]) -> Self {
        start_log();
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("servlet.toml");
        fs::write(&file, config).expect("a file");
        fs::write(folder.path().join("a.wasm"), wasm).expect("a file");
        let config = Config::read(&file).expect("a configuration");
        let served = Served::start_plan(Plan::from_config(config), HttpOptions::default());
        Self { served, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("a file");
    }

    fn tools(&self) -> Vec<String> {
        let result = self.served.ask("tools/list", json!({})).message()["result"].clone();
        let tools = result["tools"].as_array().expect("tools").iter();
        tools
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect()
    }

    fn call(&self, tool: &str) -> Value {
        let params = json!({"name": tool});
        self.served.ask("tools/call", params).message()["result"]["content"][0]["text"].clone()
    }

    /// Waits until the server has these tools.
    fn serves(&self, tools: &[&str]) {
        eventually_blocking(format!("{tools:?}"), || self.tools() == tools);
    }

    /// Waits until a log line about this folder or servlet contains all of these words.
    fn says(&self, words: &[&str]) {
        let folder = self.folder.path().display().to_string();
        eventually_blocking(format!("{words:?}"), || {
            let log = String::from_utf8(LOG.lock().expect("no panic").clone()).expect("text");
            let is_ours = |line: &&str| line.contains(&folder) || line.contains("`nonsense`");
            let mut lines = log.lines().filter(is_ours);
            lines.any(|line| words.iter().all(|word| line.contains(word)))
        });
    }
}

fn describe(tool: &str) -> String {
    json!({"tools": [{"name": tool, "inputSchema": {"type": "object"}}]}).to_string()
}

fn answer(text: &str) -> String {
    json!({"content": [{"type": "text", "text": text}]}).to_string()
}

/// A servlet with one tool that answers with this text.
fn servlet(tool: &str, text: &str) -> Vec<u8> {
    let wat = Wat::new().describe(&describe(tool));
    wat.answer(&answer(text)).wasm()
}

/// Lets servlets wait until the test lets them go on.
struct Gate(TcpListener);

impl Gate {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").expect("a port"))
    }

    /// A servlet with one tool, which waits before it runs `export`.
    fn servlet(&self, export: &str, tool: &str, text: &str) -> Vec<u8> {
        let address = self.0.local_addr().expect("an address");
        let request = json!({"url": format!("http://{address}/")}).to_string();
        let store =
            |(at, byte)| format!("(i32.store8 (i32.const {}) (i32.const {byte}))", 60000 + at);
        let bytes: String = request.bytes().enumerate().map(store).collect();
        let visit = format!(
            "{bytes} (drop (call $http (call $block (i32.const 60000) (i32.const {})) (i64.const 0)))",
            request.len()
        );
        let import = r#"(import "extism:host/env" "http_request"
            (func $http (param i64 i64) (result i64)))"#;
        let body = |name: &str| {
            let wait = if name == export { &*visit } else { "" };
            format!("{wait} (call $output {{}}) (i32.const 0)")
        };
        let wat = Wat::new().import(import);
        let wat = wat.export("describe", &describe(tool), &body("describe"));
        wat.export("call", &answer(text), &body("call")).wasm()
    }

    /// Waits until a servlet has reached the gate.
    fn reached(&self) -> TcpStream {
        let (mut stream, _) = self.0.accept().expect("a connection");
        let _ = stream.read(&mut [0; 1024]).expect("a request");
        stream
    }
}

fn open(mut stream: TcpStream) {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(answer).expect("a write");
}

#[test]
fn reloads_a_changed_servlet_and_notifies_clients() {
    let watched = Watched::start(ONE, &servlet("old", "1"));
    let session = watched.served.open();
    let [heard] = notifications(&session, || {
        watched.write("a.wasm", servlet("new", "2"));
    });
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    assert_eq!(
        (watched.tools(), watched.call("new")),
        (vec!["new".to_owned()], json!("2"))
    );
    watched.says(&["INFO", "reloaded"]);
}

#[test]
fn reloads_a_changed_configuration_and_notifies_clients() {
    let watched = Watched::start(ONE, &servlet("t", "1"));
    let session = watched.served.open();
    let [heard] = notifications(&session, || {
        watched.write(
            "servlet.toml",
            format!("{ONE}tools = {{ prefix = \"name\" }}"),
        );
    });
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    assert_eq!(watched.call("a_t"), "1");
}

#[test]
fn failed_reload_keeps_the_previous_version() {
    let config = ONE.replace("servlet.a", "servlet.nonsense");
    let watched = Watched::start(&config, &servlet("t", "1"));
    watched.write("a.wasm", "nonsense");
    watched.says(&[
        "ERROR",
        "still serving the previous version",
        "not a WebAssembly",
    ]);
    assert_eq!(watched.call("t"), "1");
    watched.write("a.wasm", servlet("t", "2"));
    eventually_blocking("the next one", || watched.call("t") == "2");
    fs::remove_file(watched.path("a.wasm")).expect("it was there");
    watched.says(&["ERROR", "still serving the previous version", "cannot read"]);
    assert_eq!(watched.call("t"), "2");
}

#[test]
fn invalid_configuration_keeps_the_previous_one() {
    let watched = Watched::start(ONE, &servlet("t", "1"));
    watched.write("servlet.toml", format!("{ONE}tolos = 7"));
    watched.says(&[
        "ERROR",
        "still serving the previous version",
        "servlet.toml:4:1: unknown key",
    ]);
    assert_eq!(watched.call("t"), "1");
    let other = ONE.replace("a.wasm", "b.wasm");
    watched.write("servlet.toml", other);
    watched.says(&["ERROR", "still serving the previous version", "b.wasm"]);
    assert_eq!(watched.call("t"), "1");
    // A missing module is watched as well.
    watched.write("b.wasm", servlet("u", "2"));
    watched.serves(&["u"]);
}

#[test]
fn a_file_that_is_only_emptied_so_far_changes_nothing() {
    let watched = Watched::start(ONE, &servlet("t", "1"));
    watched.write("servlet.toml", "");
    watched.says(&[
        "ERROR",
        "still serving the previous version",
        "the file is empty",
    ]);
    assert_eq!(watched.call("t"), "1");
    watched.write("servlet.toml", ONE);
    watched.write("a.wasm", servlet("u", "2"));
    watched.serves(&["u"]);
}

#[test]
fn new_options_apply_although_the_file_is_missing() {
    let watched = Watched::start(ONE, &servlet("t", "1"));
    fs::remove_file(watched.path("a.wasm")).expect("it was there");
    watched.says(&["ERROR", "still serving the previous version", "a.wasm"]);
    watched.write("servlet.toml", "[servlet.a]\nsource = \"a.wasm\"\n");
    eventually_blocking("the new options", || {
        let host = watched.served.server.host();
        host.servlets()[0].options().allowed_hosts.is_empty()
    });
    assert_eq!(watched.call("t"), "1");
}

#[test]
fn servlets_are_added_to_and_removed_from_a_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.wasm"), servlet("a", "1")).expect("a file");
    let config = format!("[servlet.all]\nsource = {:?}\n", folder.path());
    let watched = Watched::start(&config, b"");
    watched.serves(&["a"]);
    fs::write(folder.path().join("b.wasm"), servlet("b", "2")).expect("a file");
    watched.serves(&["a", "b"]);
    fs::remove_file(folder.path().join("a.wasm")).expect("it was there");
    watched.serves(&["b"]);
}

#[test]
fn a_change_while_the_one_before_is_loaded_is_served_next() {
    let watched = Watched::start(ONE, &servlet("first", "1"));
    let gate = Gate::new();
    watched.write("a.wasm", gate.servlet("describe", "second", "2"));
    let loading = gate.reached();
    watched.write("a.wasm", servlet("third", "3"));
    assert_eq!(
        watched.tools(),
        ["first"],
        "it is served until the next one is loaded"
    );
    open(loading);
    watched.serves(&["third"]);
}

#[test]
fn a_change_of_the_configuration_while_it_is_loaded_is_served_next() {
    let watched = Watched::start(ONE, &servlet("t", "1"));
    let gate = Gate::new();
    watched.write("a.wasm", gate.servlet("describe", "u", "2"));
    let loading = gate.reached();
    watched.write(
        "servlet.toml",
        format!("{ONE}tools = {{ prefix = \"name\" }}"),
    );
    open(loading);
    // The module was loaded for the first configuration and has not changed, so it is not described again.
    watched.serves(&["a_u"]);
}

#[test]
fn calls_that_have_begun_end_with_the_servlet_that_they_began_with() {
    let gate = Gate::new();
    let watched = Watched::start(ONE, &gate.servlet("call", "t", "old"));
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| watched.call("t"))).collect();
        let running: Vec<_> = calls.iter().map(|_| gate.reached()).collect();
        watched.write("a.wasm", servlet("u", "new"));
        watched.serves(&["u"]);
        assert_eq!(watched.call("u"), "new");
        running.into_iter().for_each(open);
        for call in calls {
            assert_eq!(call.join().expect("no panic"), "old");
        }
    });
}
