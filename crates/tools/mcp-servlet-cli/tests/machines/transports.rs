//! HTTP+SSE, and sessions that no process knows, behind a load balancer.

use serde_json::{Value, json};

use super::{
    ENDPOINT,
    client::{Answer, Client, greeting, request},
    processes::{Balancer, by_turns},
    three,
};

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn initialize() -> Value {
    let client = json!({ "name": "c", "version": "1" });
    let params =
        json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// The path for the messages of a new stream, and its other lines.
fn stream(client: &Client) -> (String, impl Iterator<Item = String> + use<>) {
    let opened = client.send("GET", "/sse", &[("accept", "text/event-stream")], "");
    let opened = opened.and_then(|answer: Answer| answer.expect_status(200));
    let mut lines = opened.expect("a stream").lines();
    assert_eq!(lines.next().as_deref(), Some("event: endpoint"));
    let path = lines.next().expect("a line");
    (path.trim_start_matches("data: ").to_owned(), lines)
}

/// The statuses of the messages of a whole session.
fn visit(client: &Client, path: &str) -> Vec<u16> {
    let call = request("tools/call", &greeting()).to_string();
    let messages = [&*initialize().to_string(), INITIALIZED, &call];
    let json = [("content-type", "application/json")];
    let answers = messages
        .iter()
        .map(|message| client.send("POST", path, &json, message));
    answers
        .map(|answer| answer.expect("a response").status())
        .collect()
}

#[test]
fn a_stream_of_http_sse_and_its_messages_must_get_to_the_same_process() {
    let config = ENDPOINT.replace("\"http\"", "\"sse\"");
    let servers = three(&config);
    let by_address =
        |config: String| config.replace("balance hdr(Mcp-Session-Id)", "balance source");
    let balancer = Balancer::start(&servers, by_address);
    let client = Client::new(&balancer.address);
    for _ in 0..6 {
        let (path, mut lines) = stream(&client);
        assert_eq!(visit(&client, &path), [202; 3]);
        assert!(lines.any(|line| line.contains("Hello, Ada!")));
    }
    // Two of three messages get to a process that does not know the session, and say so.
    let balancer = Balancer::start(&servers, by_turns);
    let client = Client::new(&balancer.address);
    let (path, _lines) = stream(&client);
    let mut statuses = visit(&client, &path);
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 404, 404]);
}

#[test]
fn without_sessions_each_process_answers_what_needs_none() {
    let servers = three(&format!("{ENDPOINT}session.store = \"none\"\n"));
    let balancer = Balancer::start(&servers, by_turns);
    let client = Client::new(&balancer.address);
    let mut message = initialize();
    message["params"]["protocolVersion"] = "2025-11-25".into();
    let opened = client.post(&[], &message).expect("a response");
    assert_eq!(opened.header("mcp-session-id"), None);
    let opened = opened.message().expect("a message");
    // Nothing is offered that another process would not know.
    assert_eq!(opened["result"]["capabilities"], json!({ "tools": {} }));
    let version = [("mcp-protocol-version", "2025-11-25")];
    let initialized = serde_json::from_str(INITIALIZED).expect("JSON");
    let accepted = client.post(&version, &initialized).expect("a response");
    assert_eq!(accepted.status(), 202);
    let ask = |method: &str, params: &Value| {
        let answer = client.post(&version, &request(method, params));
        answer.and_then(Answer::message).expect("an answer")
    };
    for _ in 0..6 {
        let greeted = ask("tools/call", &greeting());
        assert_eq!(
            greeted["result"]["content"][0]["text"], "Hello, Ada!",
            "{greeted}"
        );
        // This client takes no questions.
        let confirm = json!({ "name": "confirm_delete", "arguments": { "filename": "a" } });
        let refused = ask("tools/call", &confirm);
        let is_refused = refused["error"].is_object() || refused["result"]["isError"] == true;
        assert!(is_refused, "{refused}");
    }
    for method in ["GET", "DELETE"] {
        let headers = [("accept", "text/event-stream"), version[0]];
        let refused = client
            .send(method, "/mcp", &headers, "")
            .expect("a response");
        assert_eq!(refused.status(), 405, "{method}");
    }
}
