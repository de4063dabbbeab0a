//! HTTP+SSE, and sessions that no process knows, behind a load balancer.

use serde_json::json;
use wire::{
    Sse,
    message::{HANDSHAKE, initialize, initialized, request},
};

use super::{
    ENDPOINT,
    client::{client, greeting},
    processes::{Balancer, by_turns},
    three,
};

/// The statuses of the messages of a whole session.
fn visit(stream: &Sse) -> [u16; 3] {
    let messages = [
        initialize("2024-11-05"),
        initialized(),
        request("tools/call", greeting()),
    ];
    messages.map(|message| stream.post(&message))
}

#[test]
fn a_stream_of_http_sse_and_its_messages_must_get_to_the_same_process() {
    let config = ENDPOINT.replace("\"http\"", "\"sse\"");
    let servers = three(&config);
    let by_address =
        |config: String| config.replace("balance hdr(Mcp-Session-Id)", "balance source");
    let balancer = Balancer::start(&servers, by_address);
    let old = client(&balancer.address).at("/sse");
    for _ in 0..6 {
        let mut stream = Sse::open(&old);
        assert_eq!(visit(&stream), [202; 3]);
        assert!(stream.any(|message| message.to_string().contains("Hello, Ada!")));
    }
    // Two of three messages get to a process that does not know the session, and say so.
    let balancer = Balancer::start(&servers, by_turns);
    let stream = Sse::open(&client(&balancer.address).at("/sse"));
    let mut statuses = visit(&stream);
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 404, 404]);
}

#[test]
fn without_sessions_each_process_answers_what_needs_none() {
    let servers = three(&format!("{ENDPOINT}session.store = \"none\"\n"));
    let balancer = Balancer::start(&servers, by_turns);
    let client = client(&balancer.address);
    let opened = client.initialize();
    assert_eq!(opened.header("mcp-session-id"), None);
    let opened = opened.message();
    // Nothing is offered that another process would not know.
    assert_eq!(opened["result"]["capabilities"], json!({ "tools": {} }));
    let client = client.with("mcp-protocol-version", HANDSHAKE);
    assert_eq!(client.post(&initialized()).status(), 202);
    let call = |params| client.post(&request("tools/call", params)).message();
    for _ in 0..6 {
        let greeted = call(greeting());
        assert_eq!(
            greeted["result"]["content"][0]["text"], "Hello, Ada!",
            "{greeted}"
        );
        // This client takes no questions.
        let confirm = json!({ "name": "confirm_delete", "arguments": { "filename": "a" } });
        let refused = call(confirm);
        let is_refused = refused["error"].is_object() || refused["result"]["isError"] == true;
        assert!(is_refused, "{refused}");
    }
    for method in ["GET", "DELETE"] {
        let refused = client.with("accept", "text/event-stream").send(method, "");
        assert_eq!(refused.status(), 405, "{method}");
    }
}
