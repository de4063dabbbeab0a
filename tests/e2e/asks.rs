//! Servlets that ask and tell their client, behind `servlet serve`, message by message as clients write them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use e2e::{fixture, servlet_command};
use serde_json::{Value, json};

/// A connection to a server of one fixture.
struct Wire {
    child: Child,
    input: ChildStdin,
    output: std::io::Lines<BufReader<ChildStdout>>,
    /// What the requests of the stateless era say of the client.
    meta: Option<Value>,
    next: u64,
}

impl Wire {
    fn open(name: &str, options: &[&str]) -> Self {
        let mut command = servlet_command(["serve"]);
        command
            .arg(fixture(name))
            .args(options)
            .env("RUST_LOG", "off");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a server");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self {
            child,
            input,
            output,
            meta: None,
            next: 1,
        }
    }

    /// A client of the handshake era that can do these things.
    fn legacy(name: &str, capabilities: Value, options: &[&str]) -> Self {
        let mut wire = Self::open(name, options);
        let client = json!({ "name": "wire", "version": "1.0" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client,
        });
        wire.request("initialize", params);
        assert!(wire.receive()["result"].is_object());
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        wire
    }

    /// A client of the stateless era.
    fn modern(name: &str, capabilities: Value) -> Self {
        let mut wire = Self::open(name, &[]);
        wire.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "2.0" },
        }));
        wire
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("a server that reads");
    }

    fn receive(&mut self) -> Value {
        let line = self.output.next().expect("a message").expect("text");
        serde_json::from_str(&line).expect("JSON")
    }

    fn request(&mut self, method: &str, mut params: Value) {
        if let Some(meta) = &self.meta {
            let mut all = meta.clone();
            if let Some(own) = params["_meta"].as_object() {
                all.as_object_mut().expect("an object").extend(own.clone());
            }
            params["_meta"] = all;
        }
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Calls the tool; the messages that come before the response, and the response.
    fn call(&mut self, params: Value) -> (Vec<Value>, Value) {
        self.request("tools/call", params);
        let mut before = Vec::new();
        loop {
            let message = self.receive();
            if message.get("result").is_some() || message.get("error").is_some() {
                return (before, message);
            }
            before.push(message);
        }
    }

    fn result(&mut self, params: Value) -> Value {
        let (_, response) = self.call(params);
        assert!(response["result"].is_object(), "{response}");
        response["result"].clone()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // It ends when its input does; where a test fails before that, it must not stay.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn a_client_of_the_handshake_era_is_asked_while_its_request_is_open() {
    let mut wire = Wire::legacy("elicit", json!({ "elicitation": {} }), &[]);
    wire.request("tools/call", json!({ "name": "greet" }));
    let question = wire.receive();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "What is your name?");
    let name = &question["params"]["requestedSchema"]["properties"]["name"];
    assert_eq!(
        *name,
        json!({ "type": "string", "description": "what to call you" })
    );
    let answer = accept(&json!({ "name": "Ada" }));
    wire.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    assert_eq!(text(&wire.receive()["result"]), "Hello, Ada!");
}

#[test]
fn a_client_of_the_stateless_era_calls_again_with_the_answer() {
    let mut wire = Wire::modern("elicit", json!({ "elicitation": {} }));
    let asked = wire.result(json!({ "name": "greet" }));
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(
        asked["inputRequests"]["name"]["method"],
        "elicitation/create"
    );
    for (answer, says) in [
        (accept(&json!({ "name": "Ada" })), "Hello, Ada!"),
        (json!({ "action": "decline" }), "Hello!"),
    ] {
        let params = json!({ "name": "greet", "inputResponses": { "name": answer } });
        assert_eq!(text(&wire.result(params)), says);
    }
    let wrong = json!({ "name": "greet", "inputResponses": { "name": accept(&json!({})) } });
    assert_eq!(wire.result(wrong)["resultType"], "input_required");
}

#[test]
fn what_happened_once_comes_back_in_the_state_and_nobody_changes_it() {
    let mut wire = Wire::modern("once", json!({ "elicitation": {} }));
    let yes = accept(&json!({ "yes": true }));
    let mut params = json!({ "name": "order", "inputResponses": { "first": yes } });
    let asked = wire.result(params.clone());
    assert!(asked["inputRequests"]["second"].is_object(), "{asked}");
    params["inputResponses"] = json!({ "second": { "action": "decline" } });
    params["requestState"] = asked["requestState"].clone();
    assert_eq!(
        text(&wire.result(params.clone())),
        "order 41: true and false"
    );
    let state = asked["requestState"].as_str().expect("a state");
    params["requestState"] = format!("{state}x").into();
    let (_, response) = wire.call(params);
    assert_eq!(response["error"]["code"], -32602);
}

#[test]
fn a_client_that_cannot_answer_is_not_asked() {
    for mut wire in [
        Wire::legacy("sample", json!({}), &[]),
        Wire::modern("sample", json!({})),
    ] {
        let arguments = json!({ "country": "France" });
        let (_, response) = wire.call(json!({ "name": "capital", "arguments": arguments }));
        assert_eq!(response["error"]["code"], -32021);
        assert_eq!(
            response["error"]["data"],
            json!({ "requiredCapabilities": { "sampling": {} } })
        );
    }
}

#[test]
fn servlets_know_their_client_in_both_eras() {
    for (mut wire, says) in [
        (
            Wire::legacy("client", json!({ "sampling": {} }), &[]),
            "wire 1.0, sampling: true",
        ),
        (
            Wire::modern("client", json!({})),
            "wire 2.0, sampling: false",
        ),
    ] {
        assert_eq!(text(&wire.result(json!({ "name": "who" }))), says);
    }
}

#[test]
fn progress_reaches_who_asked_for_it_before_the_result() {
    for mut wire in [
        Wire::legacy("progress", json!({}), &[]),
        Wire::modern("progress", json!({})),
    ] {
        let (before, _) = wire.call(json!({ "name": "work" }));
        assert!(before.is_empty(), "{before:?}");
        let (before, _) = wire.call(json!({ "name": "work", "_meta": { "progressToken": "p" } }));
        let steps: Vec<_> = before.iter().map(|message| &message["params"]).collect();
        assert_eq!(steps.len(), 3, "{before:?}");
        for (step, done) in steps.iter().zip([0.0, 50.0, 100.0]) {
            assert_eq!(step["progressToken"], "p");
            assert_eq!(
                (step["progress"].as_f64(), step["total"].as_f64()),
                (Some(done), Some(100.0))
            );
        }
    }
}

#[test]
fn lines_of_the_log_reach_the_client_from_the_level_on_that_it_wants() {
    let say = || json!({ "name": "tell", "arguments": { "text": "hello" } });
    let mut wire = Wire::legacy("client_log", json!({}), &[]);
    let (before, _) = wire.call(say());
    let levels: Vec<_> = before
        .iter()
        .map(|message| &message["params"]["level"])
        .collect();
    assert_eq!(levels, ["info", "error"]);
    assert_eq!(before[0]["params"]["data"], "hello");
    wire.request("logging/setLevel", json!({ "level": "warning" }));
    assert!(wire.receive()["result"].is_object());
    assert_eq!(wire.call(say()).0.len(), 1);

    let mut wire = Wire::modern("client_log", json!({}));
    assert_eq!(wire.call(say()).0.len(), 0);
    let mut asking = say();
    asking["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "debug" });
    assert_eq!(wire.call(asking).0.len(), 2);
}

#[test]
fn a_servlet_that_is_not_configured_says_all_that_is_missing() {
    let mut wire = Wire::legacy("settings", json!({}), &["--config", "retries=many"]);
    let (_, response) = wire.call(json!({ "name": "user" }));
    assert_eq!(response["error"]["code"], -32603);
    let message = response["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("`user` is not set; `retries` must be an integer"),
        "{response}"
    );
    let options = ["--config", "user=ada", "--config", "retries=3"];
    let mut wire = Wire::legacy("settings", json!({}), &options);
    assert_eq!(text(&wire.result(json!({ "name": "user" }))), "ada, 3");
}
