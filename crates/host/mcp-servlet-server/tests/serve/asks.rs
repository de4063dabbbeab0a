//! Servlets with input requests, for clients of both eras.

use std::time::Duration;

use mcp_servlet_host::Host;
use mcp_servlet_server::{ServeOptions, Service};
use serde_json::{Value, json};
use wire::{
    Pipe,
    message::{HANDSHAKE, able, cancelled, initialize, initialized, request},
};

use crate::{
    client::{Served, converse, lose_and_resume, start},
    support::{DESCRIPTION, Wat},
};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A servlet that sends an input request in its first call, and answers in its second.
fn asking(request: &Value) -> Served {
    let asks = json!({
        "resultType": "input_required",
        "inputRequests": {"q": request},
        "requestState": "{\"secret\":1}",
    });
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    let wat = Wat::new().describe(DESCRIPTION);
    let servlet = wat.answers(&[&asks.to_string(), &done.to_string()]).load();
    Served::start(Host::new(vec![servlet.expect("a servlet")]))
}

fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"x": {"type": "string", "vendor": 1}}});
    let params = json!({"mode": "form", "message": "Which?", "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

/// A call since 2026-07-28, from a client that can show forms.
fn call(more: &Value) -> Value {
    let mut params = json!({"name": "t", "_meta": {CAPABILITIES: {"elicitation": {}}}});
    for (key, value) in more.as_object().expect("an object") {
        params[key] = value.clone();
    }
    params
}

#[test]
fn stateless_clients_get_input_requests_and_sealed_state() {
    let served = asking(&form());
    let first = served.ask("tools/call", call(&json!({}))).message()["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first["inputRequests"], json!({"q": form()}));
    let state = first["requestState"].as_str().expect("a state");
    assert_ne!(state, "{\"secret\":1}");
    let responses = json!({"q": {"action": "accept", "content": {"x": "y"}}});
    let more = json!({"inputResponses": responses, "requestState": state});
    let second = served.ask("tools/call", call(&more)).message()["result"].clone();
    assert_eq!(second["content"][0]["text"], "done");
    assert_eq!(second["resultType"], "complete");
}

#[test]
fn foreign_state_is_refused() {
    let served = asking(&form());
    let first = served.ask("tools/call", call(&json!({})));
    let state = first.message()["result"]["requestState"].clone();
    let changed = format!("{}x", state.as_str().expect("a state"));
    for more in [
        json!({"requestState": changed}),
        json!({"requestState": "{\"secret\":1}"}),
        json!({"requestState": state, "arguments": {"other": 1}}),
    ] {
        let refused = served.ask("tools/call", call(&more));
        assert_eq!(refused.code(), (200, -32602), "{more}");
    }
}

#[test]
fn clients_get_no_requests_that_they_do_not_support() {
    let served = asking(&form());
    let refused = served.ask("tools/call", json!({"name": "t"}));
    assert_eq!(refused.code(), (400, -32021));
    let required = &refused.message()["error"]["data"]["requiredCapabilities"];
    assert_eq!(required, &json!({"elicitation": {}}));
}

#[test]
fn handshake_clients_get_input_requests_during_the_call() {
    let served = asking(&form());
    let session = served.http.open_with(json!({"elicitation": {}}));
    let mut heard = Vec::new();
    let called = session.ask("tools/call", json!({"name": "t"}));
    let response = converse(&session, called, |request| {
        heard.push(request.clone());
        json!({"action": "accept", "content": {"x": "y"}})
    });
    assert_eq!(response["result"]["content"][0]["text"], "done");
    let [request] = &heard[..] else {
        panic!("one input request, not {heard:?}");
    };
    assert_eq!(request["method"], "elicitation/create");
    let schema = &request["params"]["requestedSchema"];
    assert_eq!(schema, &form()["params"]["requestedSchema"]);
}

#[test]
fn requests_and_the_answer_come_on_another_stream_if_the_first_one_breaks() {
    let served = asking(&form());
    let session = served.http.open_with(json!({"elicitation": {}}));
    let message = request("tools/call", json!({"name": "t"}));
    let resumed = lose_and_resume(&session, &message);
    let response = converse(&session, resumed, |request| {
        assert_eq!(request["method"], "elicitation/create");
        json!({"action": "accept", "content": {"x": "y"}})
    });
    let expected = json!({"content": [{"type": "text", "text": "done"}]});
    assert_eq!(response["result"], expected);
}

#[test]
fn url_elicitation_requires_its_capability() {
    let url =
        json!({"mode": "url", "message": "m", "elicitationId": "1", "url": "https://a.example"});
    let served = asking(&json!({"method": "elicitation/create", "params": url}));
    let refused = served.ask("tools/call", call(&json!({})));
    assert_eq!(refused.code(), (400, -32021));
    let required = &refused.message()["error"]["data"]["requiredCapabilities"];
    assert_eq!(required, &json!({"elicitation": {"url": {}}}));
}

#[test]
fn invalid_input_request_is_an_error_of_the_servlet() {
    let served = asking(&json!({"method": "tools/call"}));
    assert_eq!(
        served.ask("tools/call", call(&json!({}))).code(),
        (200, -32603)
    );
}

#[test]
fn stopping_server_accepts_responses_but_no_requests() {
    let served = asking(&form());
    let session = served.http.open_with(json!({"elicitation": {}}));
    let call = || session.ask("tools/call", json!({"name": "t"}));
    let response = converse(&session, call(), |_| {
        served.service.begin_stop();
        assert_eq!(served.http.at("/health").get().status(), 503);
        assert_eq!(served.ask("tools/list", json!({})).status(), 503);
        assert_eq!(call().status(), 503);
        json!({"action": "decline"})
    });
    assert_eq!(response["result"]["content"][0]["text"], "done");
}

/// A client on a pipe whose call with the id 1 has led to an elicitation request, and the id of that request.
async fn asked(question_time: Duration) -> (Service, Pipe, Value) {
    let mut options = ServeOptions::default();
    options.question_time = question_time;
    let asks = json!({ "resultType": "input_required", "inputRequests": { "q": form() } });
    let servlet = Wat::new()
        .describe(DESCRIPTION)
        .answer(&asks.to_string())
        .load();
    let host = Host::new(vec![servlet.expect("a servlet")]);
    let service = start(host, options).await;
    let mut client = Pipe::new(service.server().open_pipe());
    let elicits = able(initialize(HANDSHAKE), json!({ "elicitation": {} }));
    client.ask(elicits).await;
    client.send(initialized()).await;
    let call = request("tools/call", json!({ "name": "t" }));
    let question = client.ask(call).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (service, client, question["id"].clone())
}

/// The message by which the server takes back its question.
async fn taken_back(client: &mut Pipe) -> Value {
    loop {
        let message = client.next().await;
        if message["method"] == "notifications/cancelled" {
            return message["params"]["requestId"].clone();
        }
    }
}

#[tokio::test]
async fn the_client_learns_that_a_question_has_no_time_left() {
    let (_service, mut client, question) = asked(Duration::from_millis(100)).await;
    assert_eq!(taken_back(&mut client).await, question);
}

#[tokio::test]
async fn the_client_learns_that_a_question_of_a_cancelled_call_needs_no_answer() {
    let (_service, mut client, question) = asked(Duration::from_mins(10)).await;
    client.send(cancelled(1)).await;
    assert_eq!(taken_back(&mut client).await, question);
}
