//! Several processes that serve the same clients.

use std::{io::Write as _, net::TcpStream};

use mcp_servlet_server::Sha256;
use puppet::{eventually, eventually_blocking};
use serde_json::{Value, json};
use wire::{
    Answer,
    message::{HANDSHAKE, able, cancelled, initialized, numbered, request, stateless},
    rest,
};

use crate::{
    log,
    site::{Site, WEB},
    wasm::{Reply, echo, replies, servlet},
};

pub(crate) const A: &str = "[servlet.a]\nsource = \"a.wasm\"\n";

/// A key of 32 bytes in base64.
fn key(seed: char) -> String {
    format!("{}A=", seed.to_string().repeat(42))
}

pub(crate) fn server(keys: &[char]) -> String {
    let keys: Vec<_> = keys
        .iter()
        .map(|seed| format!("\"{}\"", key(*seed)))
        .collect();
    format!("[server]\nstate_keys = [{}]\n", keys.join(", "))
}

fn sealed(keys: &[char]) -> String {
    format!("{WEB}session.store = \"sealed\"\n{A}{}", server(keys))
}

/// Two processes with the same configuration.
async fn two(config: &str, wasm: &[u8]) -> [Site; 2] {
    log::start();
    let files = [("a.wasm", wasm)];
    [
        Site::start(config, &files).await,
        Site::start(config, &files).await,
    ]
}

pub(crate) fn initialize(client: &Value, capabilities: &Value) -> Value {
    let mut message = able(wire::message::initialize(HANDSHAKE), capabilities.clone());
    message["params"]["clientInfo"] = client.clone();
    message
}

/// Opens a session, and returns its id.
pub(crate) fn open(site: &Site, headers: &[(&str, &str)]) -> String {
    let opened = site.http("web").with_all(headers).initialize();
    assert_eq!(opened.status(), 200);
    opened.session()
}

pub(crate) fn call(site: &Site, id: &str, headers: &[(&str, &str)]) -> Answer {
    let session = site.http("web").with("mcp-session-id", id);
    let params = json!({ "name": "t", "arguments": {} });
    session.with_all(headers).ask("tools/call", params)
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_goes_on_with_a_sealed_session() {
    let [first, second] = two(&sealed(&['A']), &echo(&["t"])).await;
    let id = open(&first, &[]);
    assert!(id.starts_with("s1.") && id.len() < 300, "{id}");
    for site in [&second, &first, &second] {
        let echoed = call(site, &id, &[]).message();
        let input = &echoed["result"]["structuredContent"];
        // The client is known wherever the request arrives.
        let meta = input["params"]["_meta"].as_object().expect("`_meta`");
        let client = &meta["io.modelcontextprotocol/clientInfo"];
        assert_eq!(*client, json!({ "name": "c", "version": "1" }), "{echoed}");
    }
    assert!(
        second
            .service
            .metrics()
            .contains("servlet_sessions{endpoint=\"web\"} 1")
    );
    // A stream of events, too.
    let session = second.http("web").with("mcp-session-id", &id);
    assert_eq!(session.listen().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_worth_nothing_without_its_key_its_endpoint_and_its_letters() {
    let [first, second] = two(&sealed(&['A']), &servlet(&["t"], "a")).await;
    let [stranger, _] = two(&sealed(&['B']), &servlet(&["t"], "a")).await;
    let id = open(&first, &[]);
    assert_eq!(call(&stranger, &id, &[]).status(), 404);
    let changed = format!("{}{}", &id[..id.len() - 8], "AAAAAAAA");
    for wrong in [
        &*changed,
        "s1.",
        "s1.AAAA",
        "6c1b8f6e-9d1c-4b55-8f0e-5f5b0d1d0c11",
    ] {
        assert_eq!(call(&second, wrong, &[]).status(), 404, "{wrong}");
    }
    assert_eq!(call(&second, &id, &[]).status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_another_caller_does_not_exist_in_any_process() {
    let key_of = |name: &str| {
        let sha256 = Sha256::of(name.as_bytes());
        format!("{{ name = \"{name}\", sha256 = \"{sha256}\" }}")
    };
    let keys = format!("{}, {}", key_of("ann"), key_of("bob"));
    let auth = format!("[auth.corp]\nresource = \"https://mcp.example/mcp\"\nkey = [{keys}]\n");
    let config = format!(
        "{WEB}auth = \"corp\"\nsession.store = \"sealed\"\n{A}{}{auth}",
        server(&['A'])
    );
    let [first, second] = two(&config, &servlet(&["t"], "a")).await;
    let (ann, bob) = (
        [("authorization", "Bearer ann")],
        [("authorization", "Bearer bob")],
    );
    let id = open(&first, &ann);
    for site in [&first, &second, &second] {
        assert_eq!(call(site, &id, &bob).status(), 404);
        assert_eq!(call(site, &id, &ann).status(), 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_session_that_its_client_ends_is_over_at_that_process() {
    let [first, second] = two(&sealed(&['A']), &servlet(&["t"], "a")).await;
    let id = open(&first, &[]);
    let session = second.http("web").with("mcp-session-id", &id);
    assert_eq!(session.delete().status(), 204);
    assert_eq!(call(&second, &id, &[]).status(), 404);
    assert_eq!(session.delete().status(), 404);
    // The other process cannot know.
    assert_eq!(call(&first, &id, &[]).status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_session_ends_after_its_life() {
    let config = format!(
        "{WEB}session = {{ store = \"sealed\", life = \"1s\" }}\n{A}{}",
        server(&['A'])
    );
    let [first, second] = two(&config, &servlet(&["t"], "a")).await;
    let id = open(&first, &[]);
    eventually("the end of the session", async || {
        call(&second, &id, &[]).status() == 404
    })
    .await;
    eventually("the end at the first process", async || {
        call(&first, &id, &[]).status() == 404
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_rotated_in_three_steps_without_losing_a_session() {
    let [first, second] = two(&sealed(&['A']), &servlet(&["t"], "a")).await;
    let old = open(&first, &[]);
    // The steps of the guide: each process learns the new key before one of them seals with it.
    for keys in [&['A', 'B'][..], &['B', 'A']] {
        for site in [&first, &second] {
            site.write("servlet.toml", sealed(keys));
            let reloads = || site.service.metrics().contains("outcome=\"ok\"} 1");
            let again = || site.service.metrics().contains("outcome=\"ok\"} 2");
            let is_first = keys[0] == 'A';
            eventually(
                "the reload",
                async || if is_first { reloads() } else { again() },
            )
            .await;
            let new = open(site, &[]);
            for other in [&first, &second] {
                assert_eq!(call(other, &new, &[]).status(), 200);
                assert_eq!(call(other, &old, &[]).status(), 200);
            }
        }
    }
    let new = open(&first, &[]);
    second.write("servlet.toml", sealed(&['B']));
    eventually("the last reload", async || {
        second.service.metrics().contains("outcome=\"ok\"} 3")
    })
    .await;
    assert_eq!(call(&second, &new, &[]).status(), 200);
    // Nothing opens what the old key has sealed.
    assert_eq!(call(&second, &old, &[]).status(), 404);
    assert_eq!(call(&first, &old, &[]).status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_id_of_a_client_with_much_to_say_has_what_matters() {
    let [first, second] = two(&sealed(&['A']), &echo(&["t"])).await;
    let open = |client: &Value, capabilities: &Value| {
        let message = initialize(client, capabilities);
        first.http("web").post(&message)
    };
    let client = json!({ "name": "ide", "version": "1", "description": "d".repeat(2000) });
    let id = open(&client, &json!({ "roots": {} })).session();
    assert!(id.len() <= 1024, "{}", id.len());
    let echoed = call(&second, &id, &[]).message();
    let meta = &echoed["result"]["structuredContent"]["params"]["_meta"];
    let known = &meta["io.modelcontextprotocol/clientInfo"];
    assert_eq!(*known, json!({ "name": "ide", "version": "1" }));
    let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*capabilities, json!({ "roots": {} }));
    // Settings of capabilities are not cut.
    let refused = open(
        &client,
        &json!({ "sampling": { "tools": { "x": "d".repeat(2000) } } }),
    );
    assert_eq!(refused.status(), 400);
    let refused = refused.message();
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(
        message.starts_with("`clientInfo` and `capabilities` are too long"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sessions_each_request_is_answered_alone() {
    let config = format!("{WEB}session.store = \"none\"\n{A}");
    let [first, second] = two(&config, &servlet(&["t"], "a")).await;
    let [one, other] = [&first, &second].map(|site| {
        let web = site.http("web");
        web.with("mcp-protocol-version", HANDSHAKE)
    });
    let opened = first.http("web").initialize();
    assert_eq!(opened.header("mcp-session-id"), None);
    let capabilities = &opened.message()["result"]["capabilities"];
    assert_eq!(*capabilities, json!({ "tools": {} }));
    assert_eq!(other.post(&initialized()).status(), 202);
    for (client, site) in [(&one, &first), (&other, &second)] {
        // No id means anything there.
        let named = client.with("mcp-session-id", "made-up");
        let called = named.ask("tools/call", json!({ "name": "t", "arguments": {} }));
        let called = called.message();
        assert_eq!(called["result"]["content"][0]["text"], "a", "{called}");
        assert!(
            !site
                .service
                .metrics()
                .contains("servlet_sessions{endpoint=\"web\"} 1")
        );
    }
    for method in ["GET", "DELETE"] {
        let refused = one.with("accept", "text/event-stream").send(method, "");
        assert_eq!(refused.status(), 405, "{method}");
    }
}

/// A servlet that asks at the first call, and returns its input at the second one, in each process.
fn asking() -> Vec<u8> {
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "mode": "form", "message": "Go on?", "requestedSchema": schema });
    let question = json!({ "method": "elicitation/create", "params": params });
    let asks = json!({
        "resultType": "input_required", "inputRequests": { "q": question }, "requestState": "s3cret",
    });
    crate::wasm::echo_after(&asks.to_string(), &crate::wasm::describe(&["t"]))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_one_process_is_answered_at_another() {
    let keys = server(&['A']);
    let shared = "limits.isolation = \"shared\"\nlimits.instances.max = 1\n";
    for (keys, is_known) in [(&*keys, true), ("", false)] {
        let [first, second] = two(&format!("{WEB}{A}{shared}{keys}"), &asking()).await;
        let ask = |site: &Site, more: Value| {
            let mut params = json!({ "name": "t", "arguments": {} });
            for (name, value) in more.as_object().expect("an object") {
                params[name] = value.clone();
            }
            let request = able(
                stateless("tools/call", params),
                json!({ "elicitation": {} }),
            );
            site.http("web").post(&request).message()
        };
        let asked = ask(&first, json!({}));
        let state = asked["result"]["requestState"].as_str().expect("a state");
        // The servlet of the second process has asked another client before.
        ask(&second, json!({}));
        let answers = json!({ "q": { "action": "accept", "content": {} } });
        let answer = json!({ "requestState": state, "inputResponses": answers });
        let answered = ask(&second, answer);
        if is_known {
            let input = &answered["result"]["structuredContent"];
            assert_eq!(input["params"]["requestState"], "s3cret", "{answered}");
        } else {
            assert_eq!(answered["error"]["code"], -32602, "{answered}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_restore_a_session_at_once_are_all_answered() {
    let config = format!("{WEB}session.store = \"sealed\"\n{A}{}", server(&['A']));
    let [first, second] = two(&config, &servlet(&["t"], "a")).await;
    for _ in 0..20 {
        let session = second.http("web").in_session(&open(&first, &[]));
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let ask = || session.ask("tools/list", json!({})).status();
            let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            asked
                .into_iter()
                .map(|one| one.join().expect("no panic"))
                .collect()
        });
        assert_eq!(statuses, [200; 4]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_that_restores_a_session_holds_up_no_other_request() {
    let config = format!(
        "{WEB}session.store = \"sealed\"\n{A}limits.timeout = \"60s\"\n{}",
        server(&['A'])
    );
    let tools = json!([{ "name": "slow", "inputSchema": { "type": "object" } }]);
    let [first, second] = two(&config, &replies(&tools, &[(r#""slow""#, Reply::Hang)])).await;
    let session = second.http("web").in_session(&open(&first, &[]));
    let params = json!({ "name": "slow", "arguments": {} });
    let call = numbered(7, request("tools/call", params));
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| session.post(&call).status());
        eventually_blocking("the call runs", || {
            assert!(!slow.is_finished());
            let metrics = second.service.metrics();
            metrics.contains("servlet_calls_running 1")
        });
        let list = numbered(8, request("tools/list", json!({})));
        assert_eq!(session.post(&list).status(), 200);
        assert!(!slow.is_finished());
        assert_eq!(session.post(&cancelled(7)).status(), 202);
        slow.join().expect("no panic");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_session_ends_while_it_arrives_is_refused() {
    let [first, second] = two(&sealed(&['A']), &servlet(&["t"], "a")).await;
    let id = open(&first, &[]);
    let session = second.http("web").with("mcp-session-id", &id);
    let params = json!({ "name": "t", "arguments": {} });
    let posted = session.posted(&request("tools/call", params));
    let (begin, end) = posted.split_at(posted.len() - 20);
    let mut stream = TcpStream::connect(session.address()).expect("a connection");
    stream
        .write_all(begin.as_bytes())
        .expect("the server reads");
    let is_used = async || {
        let metrics = second.service.metrics();
        metrics.contains("servlet_sessions{endpoint=\"web\"} 1")
    };
    eventually("the session", is_used).await;
    assert_eq!(session.delete().status(), 204);
    stream.write_all(end.as_bytes()).expect("the server reads");
    let response = rest(stream);
    assert!(response.starts_with("HTTP/1.1 404"), "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_ids_do_not_displace_a_session_that_has_ended() {
    let config = format!("{WEB}session.store = \"sealed\"\n{A}{}", server(&['A']));
    let [first, _] = two(&config, &servlet(&["t"], "a")).await;
    let id = open(&first, &[]);
    let delete = |id: &str| first.http("web").in_session(id).delete().status();
    assert_eq!(delete(&id), 204);
    assert_eq!([delete("made-up"), delete(&id)], [404; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_come_from_files_that_are_read_again() {
    let config = format!(
        "{WEB}session.store = \"sealed\"\n{A}[server]\nstate_keys = [\"${{file:./key}}\"]\n"
    );
    log::start();
    let wasm = servlet(&["t"], "a");
    let (one, other) = (format!("{}\n", key('A')), format!("{}\r\n", key('B')));
    let files = [("a.wasm", &*wasm), ("key", one.as_bytes())];
    let first = Site::start(&config, &files).await;
    let second = Site::start(&config, &[files[0], ("key", other.as_bytes())]).await;
    let id = open(&first, &[]);
    assert_eq!(call(&second, &id, &[]).status(), 404);
    second.write("key", &one);
    eventually("the key of the file", async || {
        call(&second, &id, &[]).status() == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_says_where_a_session_goes_on() {
    let config = format!("{}[audit]\nto = \"audit.jsonl\"\n", sealed(&['A']));
    let [first, second] = two(&config, &servlet(&["t"], "a")).await;
    let id = open(&first, &[]);
    for _ in 0..2 {
        assert_eq!(call(&second, &id, &[]).status(), 200);
    }
    for (site, outcome) in [(first, "opened"), (second, "resumed")] {
        site.stop().await;
        let log = std::fs::read_to_string(site.path("audit.jsonl")).expect("the log");
        let lines = log
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let sessions = lines.filter(|line| line["event"] == "session");
        let outcomes: Vec<_> = sessions.map(|line| line["outcome"].clone()).collect();
        assert_eq!(outcomes[0], outcome, "{log}");
        assert_eq!(
            outcomes.iter().filter(|one| **one == outcome).count(),
            1,
            "{log}"
        );
    }
}
