//! Several processes behind a HAProxy with the configuration of `deploy`.

use std::{thread, time::Duration};

use serde_json::json;

use super::{
    folder::folder,
    is_installed,
    processes::{Balancer, CLIENTS, Server, by_turns, checks_often, request, under_load},
};

/// The rest of a configuration with one endpoint.
const ENDPOINT: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n\
    [endpoint.main]\nkind = \"http\"\nlistener = \"local\"\nsession.store = \"sealed\"\n\
    [server]\nstate_keys = [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"]\n\
    [servlet.a]\nsource = \"a.wasm\"\n";

fn post(balancer: &Balancer, headers: &str, body: &str) -> Option<(u16, String)> {
    let headers = format!(
        "content-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}"
    );
    request(&balancer.address, "POST", "/mcp", &headers, body)
}

/// Opens a session, and returns its id.
fn open(balancer: &Balancer) -> String {
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let (status, response) = post(balancer, "", &body.to_string()).expect("a response");
    assert_eq!(status, 200, "{response}");
    let mut lines = response.lines();
    let id = lines.find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id")
            .then(|| value.to_owned())
    });
    id.unwrap_or_else(|| panic!("no session in {response}"))
}

/// The status of a call in a session.
fn call(balancer: &Balancer, id: &str) -> Option<u16> {
    let params = json!({ "name": "t", "arguments": {} });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (status, _) = post(
        balancer,
        &format!("mcp-session-id: {id}\r\n"),
        &body.to_string(),
    )?;
    Some(status)
}

/// A call since 2026-07-28.
fn call_alone(balancer: &Balancer) -> Result<(), String> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "t", "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: t\r\n";
    match post(balancer, headers, &body.to_string()) {
        Some((200, _)) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn three(more: &str) -> Vec<Server> {
    let config = format!("{more}{ENDPOINT}");
    (0..3).map(|_| Server::start(folder(&config))).collect()
}

#[test]
fn a_process_that_is_killed_takes_only_its_own_calls_along() {
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three("");
    let balancer = Balancer::start(&servers, |config| config);
    let counts = under_load(
        |_| || call_alone(&balancer),
        |counts| {
            counts.more(100);
            servers[0].kill();
            counts.more(200);
        },
    );
    // Each client waits for one answer at a time.
    let failures = counts.failures();
    assert!(failures.len() <= CLIENTS, "{failures:?}");
}

#[test]
fn a_process_that_leaves_loses_no_call() {
    if !is_installed("haproxy") {
        return;
    }
    let mut servers = three("http.leave = \"3s\"\n");
    let balancer = Balancer::start(&servers, checks_often);
    let counts = under_load(
        |_| || call_alone(&balancer),
        |counts| {
            counts.more(50);
            servers[0].stop();
            counts.more(50);
        },
    );
    assert_eq!(counts.failures(), [""; 0]);
}

#[test]
fn no_sealed_session_is_lost_behind_a_load_balancer() {
    if !is_installed("haproxy") {
        return;
    }
    let by_session = |config: String| config;
    let ways: [&dyn Fn(String) -> String; 2] = [&by_turns, &by_session];
    for way in ways {
        let mut servers = three("");
        let balancer = Balancer::start(&servers, way);
        let ids: Vec<_> = (0..200).map(|_| open(&balancer)).collect();
        let lost = || {
            let calls = ids.iter().map(|id| call(&balancer, id));
            calls.filter(|status| *status != Some(200)).count()
        };
        assert_eq!(lost(), 0);
        servers[0].kill();
        // Until HAProxy has noticed, it tries the next process.
        thread::sleep(Duration::from_millis(100));
        assert_eq!(lost(), 0);
    }
}
