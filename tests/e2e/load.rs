//! `servlet serve` over both transports: many concurrent calls, servlets that are replaced meanwhile, and clients that
//! do not wait.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::thread;

use e2e::servlet_command;
use puppet::eventually_blocking;
use serde_json::{Value, json};
use wire::message::{cancelled, numbered, request, stateless, text};
use wire::{Http, Process, rest};

use crate::faults::servlet;
use crate::wat::tools;

fn serve(file: &Path, options: &[&str]) -> Process {
    let mut command = servlet_command(["serve"]);
    command.arg(file).args(options);
    command.env("RUST_LOG", "mcp_servlet_server=warn");
    Process::start(command)
}

/// Also serves over HTTP. Returns a client of each. The server keeps running when the
/// client on standard input leaves.
fn serve_http(file: &Path) -> (Process, Http) {
    let here = "127.0.0.1:0";
    let wire = serve(file, &["--http", here, "--stdio", "--operations", here]);
    let http = Http::new(wire.said_after("listening on "));
    (wire, http)
}

/// Sends a call since 2026-07-28, and does not wait for the response.
fn begin(http: &Http, arguments: Value) -> TcpStream {
    let params = json!({ "name": "t", "arguments": arguments });
    http.begin(&stateless("tools/call", params))
}

/// Waits until a call is running.
fn wait_for_a_call(wire: &Process) {
    let metrics = Http::new(wire.said_after("metrics on "));
    eventually_blocking("the call runs", || {
        metrics.get().text().contains("servlet_calls_running 1")
    });
}

#[test]
fn a_thousand_calls_of_one_servlet_are_answered_over_standard_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    fs::write(&file, servlet("t", "fine").wasm()).expect("a file");
    let wire = serve(&file, &[]);
    let calls: Vec<_> = (0..1000)
        .map(|_| wire.begin_call("t", &json!({})))
        .collect();
    for id in calls {
        assert_eq!(text(&wire.end(id)), "fine");
    }
    assert!(wire.finish().success());
}

#[test]
fn a_thousand_calls_of_one_servlet_are_answered_over_http() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    fs::write(&file, servlet("t", "fine").wasm()).expect("a file");
    let (_wire, http) = serve_http(&file);
    // All requests are sent before the first answer is read.
    let calls: Vec<_> = (0..1000).map(|_| begin(&http, json!({}))).collect();
    for call in calls {
        let answer = rest(call);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(answer.matches(r#""text":"fine""#).count(), 1, "{answer}");
    }
}

#[test]
fn each_call_is_answered_once_while_its_servlet_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    let version = |number: usize| servlet("t", &format!("version {number}")).wasm();
    fs::write(&file, version(0)).expect("a file");
    let config = folder.path().join("servlet.toml");
    fs::write(&config, "[servlet.a]\nsource = \"a.wasm\"\n").expect("a file");
    let wire = serve(&config, &[]);
    let mut last = 0;
    for number in 1..=5 {
        thread::scope(|scope| {
            let client = || {
                let answers = (0..200).map(|_| {
                    let ids: Vec<_> = (0..4).map(|_| wire.begin_call("t", &json!({}))).collect();
                    let answers = ids.into_iter().map(|id| text(&wire.end(id)).to_owned());
                    answers.collect::<Vec<_>>()
                });
                answers.flatten().collect::<Vec<_>>()
            };
            let clients = [scope.spawn(client), scope.spawn(client)];
            fs::write(&file, version(number)).expect("a file");
            wire.wait_for("notifications/tools/list_changed");
            assert_eq!(wire.call("t", &json!({})), format!("version {number}"));
            for client in clients {
                let answers = client.join().expect("no panic");
                let (old, new) = (format!("version {last}"), format!("version {number}"));
                assert_eq!(answers.len(), 800);
                assert!(
                    answers.iter().all(|text| *text == old || *text == new),
                    "{answers:?}"
                );
            }
        });
        last = number;
    }
    assert!(wire.finish().success());
}

/// The configuration of a servlet with one instance and no time limit, which runs forever on request.
fn spinning(folder: &Path) -> PathBuf {
    let spin = [(1, "(loop $l (br $l))")];
    fs::write(folder.join("a.wasm"), tools(&spin).wasm()).expect("a file");
    let config = folder.join("servlet.toml");
    let one = "[servlet.a]\nsource = \"a.wasm\"\nlimits = { timeout = \"none\", instances = { max = 1 } }\n";
    fs::write(&config, one).expect("a file");
    config
}

#[test]
fn stops_the_call_of_a_disconnected_client_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let (wire, http) = serve_http(&spinning(folder.path()));
    for _ in 0..5 {
        let gone = begin(&http, json!({ "do": 1 }));
        let waiting = wire.begin_call("t", &json!({ "do": 0 }));
        let other = begin(&http, json!({ "do": 0 }));
        drop(gone);
        // The only instance has been running all the time.
        assert_eq!(text(&wire.end(waiting)), "ok");
        assert!(rest(other).contains(r#""text":"ok""#));
    }
}

#[test]
fn a_call_that_is_cancelled_in_a_session_is_stopped_and_others_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (wire, http) = serve_http(&spinning(folder.path()));
    let session = http.open();
    for id in 1..=5 {
        let params = json!({ "name": "t", "arguments": { "do": 1 } });
        let running = session.begin(&numbered(id, request("tools/call", params)));
        wait_for_a_call(&wire);
        let waiting = wire.begin_call("t", &json!({ "do": 0 }));
        assert_eq!(session.post(&cancelled(id)).status(), 202);
        // The only instance has been running all the time.
        assert_eq!(text(&wire.end(waiting)), "ok");
        let answer = rest(running);
        assert!(!answer.contains(r#""jsonrpc""#), "{answer}");
    }
}

#[test]
fn server_ends_with_its_client_while_calls_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.wasm");
    fs::write(&file, tools(&[(1, "(loop $l (br $l))")]).wasm()).expect("a file");
    let wire = serve(&file, &["--timeout", "none"]);
    let running = wire.begin_call("t", &json!({ "do": 1 }));
    assert_eq!(wire.call("t", &json!({ "do": 0 })), "ok");
    wire.leave();
    assert_eq!(wire.end(running)["error"]["code"], -32603);
    assert!(wire.finish().success());
}

#[cfg(unix)]
#[test]
fn a_second_signal_ends_a_server_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut wire, http) = serve_http(&spinning(folder.path()));
    let _running = begin(&http, json!({ "do": 1 }));
    wait_for_a_call(&wire);
    wire.signal("TERM");
    // The server has handled the signal once it refuses new requests.
    eventually_blocking("a refused ping", || {
        wire.ask("ping", json!({})).get("error").is_some()
    });
    wire.signal("TERM");
    wire.said_after("stopped at once");
    wire.ended();
}
