//! MCP over HTTP: sessions, stateless requests, and refusals.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::{Arc, mpsc},
    time::Duration,
};

use mcp_servlet_call::{Change, Limit, Limits};
use mcp_servlet_host::Host;
use mcp_servlet_runtime::LoadOptions;
use mcp_servlet_server::{HttpOptions, ServeOptions};
use puppet::{PATIENCE, eventually_blocking};
use serde_json::{Value, json};
use wire::{
    Answer,
    message::{HANDSHAKE, STATELESS, able, initialize, initialized, request},
};

use crate::{
    client::{Served, notifications},
    support::{DESCRIPTION, Wat},
};

fn host(description: &str, answer: &str) -> Host {
    let servlet = Wat::new().describe(description).answer(answer).load();
    Host::new(vec![servlet.expect("a servlet")])
}

fn plain() -> Served {
    Served::start(host(
        DESCRIPTION,
        r#"{"content":[],"vendor":{"b":1,"a":2}}"#,
    ))
}

#[test]
fn both_protocol_eras_get_the_servlets_json() {
    let served = plain();
    let modern = served.ask("tools/call", json!({"name": "t"}));
    assert_eq!(modern.status(), 200);
    let result = &modern.message()["result"];
    assert_eq!(result["vendor"].to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(result["resultType"], "complete");
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "test");

    let session = served.open();
    let legacy = session.ask("tools/call", json!({"name": "t"}));
    let result = &legacy.message()["result"];
    assert_eq!(
        result.to_string(),
        r#"{"content":[],"vendor":{"b":1,"a":2}}"#
    );
}

#[test]
fn lists_have_a_time_to_live() {
    let served = plain();
    let list = served.ask("tools/list", json!({}));
    let result = &list.message()["result"];
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(60_000), &json!("public"))
    );
    let session = served.open();
    let list = session.ask("tools/list", json!({}));
    assert_eq!(list.message()["result"].get("ttlMs"), None);
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let served = plain();
    let ask = |name, value| {
        let client = served.http.with(name, value);
        client.ask("tools/list", json!({})).status()
    };
    assert_eq!(ask("origin", "http://localhost:3000"), 200);
    assert_eq!(ask("origin", "https://127.0.0.1"), 200);
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
    ] {
        assert_eq!(ask("origin", origin), 403, "{origin}");
    }
    for (origin, expected) in [("http://evil.example", 403), ("http://localhost", 400)] {
        let refused = served.http.with("origin", origin).post_text("{");
        assert_eq!(refused.status(), expected);
        let may_read = refused.header("access-control-allow-origin").is_some();
        assert_eq!(may_read, expected == 400, "{origin} may read it");
    }
    assert_eq!(ask("host", "localhost:1"), 200);
    assert_eq!(ask("host", "evil.example"), 403);
}

#[test]
fn pages_of_allowed_origins_can_send_requests() {
    let served = plain();
    let allowed = |answer: &Answer| {
        let origin = answer.header("access-control-allow-origin");
        (answer.status(), origin.map(str::to_owned))
    };
    let ask = |origin| {
        let page = served.http.with("origin", origin);
        let asked = page.with_all(&[
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "mcp-param-x"),
        ]);
        let listed = page.ask("tools/list", json!({}));
        (allowed(&asked.send("OPTIONS", "")), allowed(&listed))
    };
    let here = "http://localhost:5173";
    let origin = Some(here.to_owned());
    assert_eq!(ask(here), ((204, origin.clone()), (200, origin)));
    assert_eq!(ask("http://evil.example"), ((403, None), (403, None)));
    assert_eq!(allowed(&served.ask("tools/list", json!({}))), (200, None));
}

#[test]
fn bodies_that_are_not_messages_get_a_status() {
    let mut options = HttpOptions::default();
    options.body = 1000;
    let host = host(DESCRIPTION, "{}");
    let served = Served::start_with(host, ServeOptions::default(), options);
    let post = |text: &str| served.http.post_text(text);
    assert_eq!(post("{").code(), (400, -32700));
    assert_eq!(post("[]").code(), (400, -32600));
    assert_eq!(post(r#"{"id":1}"#).code(), (400, -32600));
    for (params, code) in [
        ("[1]", -32602),
        (r#"{"_meta":5}"#, -32602),
        (r#"{"a":1e400}"#, -32600),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{params}}}"#);
        let refused = post(&body);
        assert_eq!(refused.code(), (400, code), "{params}");
        assert_eq!(refused.message()["id"], 5, "{params}");
    }
    let opening = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#;
    assert_eq!(post(opening).code(), (400, -32602));
    let long = json!({ "experimental": { "x": "x".repeat(257 << 10) } });
    let long = able(initialize(HANDSHAKE), long);
    assert_eq!(plain().http.post(&long).code(), (400, -32602));
    let long = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(2000));
    assert_eq!(post(&long).status(), 413);
    let ping = |name, value| {
        let client = served.http.with(name, value);
        client.post(&request("ping", json!({}))).status()
    };
    assert_eq!(ping("accept", "text/html"), 406);
    assert_eq!(ping("content-type", "text/plain"), 415);
    assert_eq!(served.http.send("PUT", "").status(), 405);
    assert_eq!(served.http.at("/").get().status(), 404);
}

#[test]
fn invalid_requests_get_the_error_codes_of_their_protocol_era() {
    let served = plain();
    let ask = |method: &str, params: Value| served.ask(method, params).code();
    assert_eq!(ask("tools/call", json!({"name": "nope"})), (200, -32602));
    assert_eq!(
        ask("tools/call", json!({"name": "t", "arguments": 1})),
        (200, -32602)
    );
    assert_eq!(ask("tools/list", json!({"cursor": "nope"})), (200, -32602));
    for method in [
        "initialize",
        "tools/brew",
        "logging/setLevel",
        "resources/subscribe",
    ] {
        let uri = method.starts_with("resources").then_some("a:b");
        let params = json!({"level": "info", "uri": uri});
        assert_eq!(ask(method, params), (404, -32601), "{method}");
    }
    let session = served.open();
    let ask = |method: &str, params: Value| session.ask(method, params).code();
    assert_eq!(ask("tools/call", json!({"name": "nope"})), (200, -32602));
    assert_eq!(ask("tools/call", json!({"arguments": {}})), (200, -32602));
    assert_eq!(ask("tools/list", json!({"cursor": "nope"})), (200, -32602));
    assert_eq!(ask("tools/brew", json!({})), (200, -32601));
    assert_eq!(ask("server/discover", json!({})).1, -32602);
}

#[test]
fn requests_without_their_metadata_are_refused() {
    let served = plain();
    let bare = served.http.with_all(&[
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ]);
    let bare = bare.post(&request("tools/list", json!({})));
    assert_eq!(bare.code(), (400, -32602));
    let wrong = served.http.with("mcp-name", "other");
    let wrong = wrong.ask("tools/call", json!({"name": "t"}));
    assert_eq!(wrong.code(), (400, -32020));
}

#[test]
fn long_lists_come_in_pages() {
    let tools: Vec<_> = (0..5)
        .map(|at| json!({"name": format!("t{at}"), "inputSchema": {"type": "object"}}))
        .collect();
    let mut options = ServeOptions::default();
    options.page_size = 2;
    let host = host(&json!({"tools": tools}).to_string(), "{}");
    let served = Served::start_with(host, options, HttpOptions::default());
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = served.ask("tools/list", params).message()["result"].clone();
        let tools = page["tools"].as_array().expect("tools");
        assert!(tools.len() <= 2);
        names.extend(tools.iter().map(|tool| tool["name"].to_string()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    assert_eq!(names.concat(), r#""t0""t1""t2""t3""t4""#);
}

#[test]
fn older_clients_get_schemas_and_results_that_they_can_read() {
    let schema = json!({"type": "object", "properties": {"any": true}});
    let described = json!({"tools": [
        {"name": "t", "inputSchema": schema, "outputSchema": {"type": "array"}},
    ]});
    let host = host(
        &described.to_string(),
        r#"{"content":[],"structuredContent":[1]}"#,
    );
    let served = Served::start(host);
    let tool = served.ask("tools/list", json!({})).message()["result"]["tools"][0].clone();
    assert_eq!(tool, described["tools"][0]);
    let result = served.ask("tools/call", json!({"name": "t"})).message()["result"].clone();
    assert_eq!(result["structuredContent"], json!([1]));

    let session = served.open();
    let list = session.ask("tools/list", json!({}));
    let tool = list.message()["result"]["tools"][0].clone();
    let schema = json!({"type": "object", "properties": {"any": {}}});
    let output = json!({
        "type": "object", "properties": {"result": {"type": "array"}}, "required": ["result"],
        "x-fastmcp-wrap-result": true,
    });
    let expected = json!({"name": "t", "inputSchema": schema, "outputSchema": output});
    assert_eq!(tool, expected);
    let called = session.ask("tools/call", json!({"name": "t"}));
    let result = json!({"content": [], "structuredContent": {"result": [1]}});
    assert_eq!(called.message()["result"], result);
}

#[test]
fn sessions_end_when_the_client_says_so_and_are_counted() {
    let mut options = HttpOptions::default();
    options.sessions = 1;
    let host = host(DESCRIPTION, "{}");
    let served = Served::start_with(host, ServeOptions::default(), options);
    let session = served.open();
    // Since 2026-07-28 there are no sessions, but rmcp opens one for each `initialize`.
    let stateless = served.http.with("mcp-protocol-version", STATELESS);
    let full = [
        served.http.initialize(),
        stateless.post(&initialize(STATELESS)),
    ];
    for full in full {
        assert_eq!(full.status(), 503, "{full:?}");
    }
    assert_eq!(served.ask("tools/list", json!({})).status(), 200);
    assert_eq!(session.delete().status(), 204);
    assert_eq!(session.delete().status(), 404);
    let gone = session.ask("tools/list", json!({}));
    assert_eq!(gone.status(), 404);
}

#[test]
fn the_address_with_most_sessions_makes_room_for_another_one() {
    let mut options = HttpOptions::default();
    options.sessions = 3;
    options.trusted_proxies = vec!["127.0.0.1/32".parse().expect("an address")];
    let host = host(DESCRIPTION, "{}");
    let served = Served::start_with(host, ServeOptions::default(), options);
    let open = |from: &str| {
        let client = served.http.with("x-forwarded-for", from);
        client.initialize()
    };
    let list = |session: &str| {
        let session = served.http.in_session(session);
        session.ask("tools/list", json!({})).status()
    };
    let first = [(); 3].map(|()| open("192.0.2.1").session());
    assert_eq!(open("192.0.2.1").status(), 503);
    assert_eq!(list(&first[0]), 200);
    // The oldest session without a request ends.
    let other = open("192.0.2.2").session();
    let all = [&first[0], &first[1], &first[2], &other];
    assert_eq!(all.map(|session| list(session)), [200, 404, 200, 200]);
    // Another one would take more than its share.
    assert_eq!(open("192.0.2.2").status(), 503);
    let metrics = served.service.metrics();
    for line in [
        r#"servlet_refused_total{what="session"} 2"#,
        r#"servlet_refused_total{what="session_closed"} 1"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[test]
fn clients_behind_one_proxy_have_shares_of_their_own() {
    const CLIENTS: usize = 200;
    let mut options = HttpOptions::default();
    options.sessions = CLIENTS;
    options.connections = 16;
    options.trusted_proxies = vec!["127.0.0.1/32".parse().expect("an address")];
    let served = Served::start_with(host(DESCRIPTION, "{}"), ServeOptions::default(), options);
    let client = |number: usize| {
        let from = format!("192.0.2.{number}");
        let opened = served.http.with("x-forwarded-for", &from).initialize();
        assert_eq!(opened.status(), 200, "{from}: {opened:?}");
        let session = served.http.in_session(&opened.session());
        assert_eq!(session.ask("tools/list", json!({})).status(), 200, "{from}");
    };
    let client = &client;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || (thread..CLIENTS).step_by(8).for_each(client));
        }
    });
    let metrics = served.service.metrics();
    for refused in ["what=\"connection\"", "what=\"session"] {
        assert!(!metrics.contains(refused), "{metrics}");
    }
}

#[test]
fn streams_leave_the_connections_to_calls() {
    let mut options = HttpOptions::default();
    options.connections = 8;
    let served = Served::start_with(host(DESCRIPTION, "{}"), ServeOptions::default(), options);
    let streams: Vec<_> = (0..8)
        .map(|_| {
            let session = served.open();
            let stream = session.listen();
            (session, stream)
        })
        .collect();
    for (session, _) in &streams {
        let listed = session.ask("tools/list", json!({}));
        assert_eq!(listed.status(), 200);
    }
}

#[test]
fn subscriptions_leave_the_connections_to_calls() {
    let mut options = HttpOptions::default();
    options.connections = 4;
    let served = Served::start_with(host(DESCRIPTION, "{}"), ServeOptions::default(), options);
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut streams = Vec::new();
    // As many streams as connections have places of their own.
    for _ in 0..4 {
        let mut messages = subscribe(&served, filter.clone());
        let first = messages.next().expect("a message");
        assert_eq!(first["method"], ACKNOWLEDGED);
        streams.push(messages);
        assert_eq!(served.ask("tools/list", json!({})).status(), 200);
    }
}

/// The first message of a subscription.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Opens a stream of changes, and returns its messages.
fn subscribe(served: &Served, filter: Value) -> impl Iterator<Item = Value> + use<> {
    served.ask("subscriptions/listen", filter).into_events()
}

#[test]
fn subscriptions_get_changes_until_the_server_stops() {
    let served = plain();
    let filter = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let messages = subscribe(&served, filter);
    let (sender, heard) = mpsc::channel();
    std::thread::spawn(move || messages.for_each(|message| drop(sender.send(message))));
    let first = heard.recv_timeout(PATIENCE).expect("a message");
    assert_eq!(first["method"], ACKNOWLEDGED);
    let accepted = &first["params"]["notifications"];
    assert_eq!(accepted, &json!({"toolsListChanged": true}));
    // The server follows the changes after it has acknowledged that it will.
    let changed = eventually_blocking("a change", || {
        served.server.notify(Change::Tools);
        heard.try_recv().ok()
    });
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    served.service.begin_stop();
    let result = eventually_blocking("a result", || {
        let message = heard.try_recv().ok()?;
        message.get("result").cloned()
    });
    assert_eq!(result["resultType"], "complete", "{result}");
}

#[test]
fn switches_to_a_new_host_and_notifies_sessions() {
    let served = plain();
    let session = served.open();
    let other = json!({"tools": [{"name": "u", "inputSchema": {"type": "object"}}]});
    let [heard] = notifications(&session, || {
        let same = host(DESCRIPTION, "{}");
        served.server.replace(Arc::new(same));
        let other = host(&other.to_string(), r#"{"content":[]}"#);
        served.server.replace(Arc::new(other));
    });
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    let names = served.ask("tools/list", json!({})).message()["result"]["tools"].clone();
    assert_eq!(names, other["tools"]);
    let called = session.ask("tools/call", json!({"name": "u"})).message();
    assert_eq!(called["result"], json!({"content": []}));
}

#[test]
fn idle_connection_is_closed() {
    let mut options = HttpOptions::default();
    options.head_time = Some(Duration::from_millis(100));
    let host = host(DESCRIPTION, "{}");
    let served = Served::start_with(host, ServeOptions::default(), options);
    for head in ["", "POST /mcp HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut stream = TcpStream::connect(served.http.address()).expect("a connection");
        stream.write_all(head.as_bytes()).expect("a write");
        let mut answer = Vec::new();
        // A reset connection counts as closed.
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(String::from_utf8_lossy(&answer), "", "{head}");
    }
}

#[test]
fn missing_body_times_out() {
    let mut options = HttpOptions::default();
    options.body_time = Some(Duration::from_millis(100));
    let host = host(DESCRIPTION, "{}");
    let served = Served::start_with(host, ServeOptions::default(), options);
    let mut stream = TcpStream::connect(served.http.address()).expect("a connection");
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("a write");
    let mut line = String::new();
    let answer = BufReader::new(stream).read_line(&mut line);
    answer.expect("an answer");
    assert!(line.starts_with("HTTP/1.1 408"), "{line}");
}

#[test]
fn client_that_is_initialized_twice_gets_each_change_once() {
    let served = plain();
    let session = served.open();
    assert_eq!(session.post(&initialized()).status(), 202);
    let heard: [Value; 2] = notifications(&session, || {
        served.server.notify(Change::Tools);
        served.server.notify(Change::Prompts);
    });
    let methods = heard.map(|message| message["method"].clone());
    assert_eq!(methods[0], "notifications/tools/list_changed");
    assert_eq!(methods[1], "notifications/prompts/list_changed");
}

/// Imports the notification for a changed list of tools.
const NOTIFY: &str = r#"(import "extism:host/user" "notify_tool_list_changed" (func $notify))"#;

#[test]
fn failed_list_does_not_block_changes_of_other_lists() {
    let list = |name: &str| {
        let tool = json!({"name": name, "description": "d", "inputSchema": {"type": "object"}});
        json!({"tools": [tool]}).to_string()
    };
    let changing = Wat::new()
        .import(NOTIFY)
        .each("describe", &[&list("before"), &list("after")])
        .export(
            "call",
            r#"{"content":[]}"#,
            "(call $notify) (call $output {}) (i32.const 0)",
        );
    let traps_later = "(if (global.get $calls) (then unreachable))
        (global.set $calls (i32.const 1)) (call $output {}) (i32.const 0)";
    let failing = Wat::new()
        .import(NOTIFY)
        .export("describe", &list("other"), traps_later)
        .answer("{}");
    let servlets = [failing, changing].map(|wat| wat.load().expect("a servlet"));
    let served = Served::start(Host::new(servlets.into()));
    let session = served.open();
    let [_changed] = notifications(&session, || {
        served.ask("tools/call", json!({"name": "before"}));
    });
    let list = served.ask("tools/list", json!({})).message();
    let names = [0, 1].map(|at| list["result"]["tools"][at]["name"].clone());
    assert_eq!(names, ["other", "after"]);
}

#[test]
fn lists_that_change_with_every_call_are_read_no_more_often() {
    const CALLS: usize = 40;
    // Calls after them, one by one.
    const MORE: usize = 8;
    // Each list has a different name for the other tool.
    let list = |at: usize| {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        json!({"tools": [tool("t"), tool(&format!("read_{at}"))]}).to_string()
    };
    let lists: Vec<_> = (1..=2 * CALLS).map(list).collect();
    let lists: Vec<_> = lists.iter().map(String::as_str).collect();
    let changing = Wat::new().import(NOTIFY).each("describe", &lists).export(
        "call",
        r#"{"content":[]}"#,
        "(call $notify) (call $output {}) (i32.const 0)",
    );
    let servlet = changing.load().expect("a servlet");
    let served = Served::start(Host::new(vec![servlet]));
    std::thread::scope(|scope| {
        for _ in 0..CALLS {
            scope.spawn(|| served.ask("tools/call", json!({"name": "t"})));
        }
    });
    let read = || {
        let list = served.ask("tools/list", json!({})).message();
        let name = list["result"]["tools"][1]["name"]
            .as_str()
            .map(str::to_owned);
        let times = name.and_then(|name| name.strip_prefix("read_")?.parse::<usize>().ok());
        times.expect("a number")
    };
    // Lists that are read too often are so by the time that the server has read those of later calls.
    for _ in 0..MORE {
        let before = read();
        served.ask("tools/call", json!({"name": "t"}));
        eventually_blocking("the lists are read again", || read() > before);
    }
    let times = read();
    assert!(times <= CALLS + MORE + 1, "{times}");
}

#[test]
fn limit_of_an_unknown_tool_does_not_affect_its_servlet() {
    let mut options = LoadOptions::default();
    options.tools.insert("later".to_owned(), Limits::default());
    let wat = || Wat::new().describe(DESCRIPTION).answer("{}");
    assert!(wat().load_with(&options).is_err());
    let servlet = wat().import(NOTIFY).load_with(&options);
    let host = Host::new(vec![servlet.expect("a servlet")]);
    let problem = host.problems().next().expect("a warning");
    assert!(problem.to_string().contains("no tool `later`"));
}

#[test]
fn removes_idle_sessions() {
    let idle = Duration::from_secs(1);
    let mut http = HttpOptions::default();
    http.session_idle = Some(idle);
    let wait = "(loop $on (br_if $on (i32.const 1))) (i32.const 0)";
    let servlet = Wat::new().describe(DESCRIPTION).export("call", "", wait);
    let mut options = LoadOptions::default();
    options.limits.timeout = Limit::At(3 * idle);
    let servlet = servlet.load_with(&options).expect("a servlet");
    let host = Host::new(vec![servlet]);
    let served = Served::start_with(host, ServeOptions::default(), http);
    let session = served.open();
    let called = session.ask("tools/call", json!({"name": "t"})).message();
    let message = called["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("did not finish"), "{called}");
    let sessions = "servlet_sessions{endpoint=\"\"} 0\n";
    eventually_blocking(sessions, || served.service.metrics().contains(sessions));
    let gone = session.ask("tools/list", json!({}));
    assert_eq!(gone.status(), 404);
}

#[test]
fn connections_above_the_limit_wait() {
    let mut options = HttpOptions::default();
    options.connections = 1;
    let host = host(DESCRIPTION, "{}");
    let served = Served::start_with(host, ServeOptions::default(), options);
    let first = TcpStream::connect(served.http.address()).expect("a connection");
    std::thread::scope(|scope| {
        let second = scope.spawn(|| served.ask("tools/list", json!({})).status());
        let waiting = "servlet_connections{state=\"waiting\"} 1\n";
        eventually_blocking(waiting, || served.service.metrics().contains(waiting));
        assert!(!second.is_finished());
        drop(first);
        assert_eq!(second.join().expect("an answer"), 200);
    });
}
