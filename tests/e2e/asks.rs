//! Servlets that send requests and notifications to their client, behind `servlet serve`, message by message.

use e2e::fixture;
use serde_json::json;
use wire::message;

use crate::pipe::{accept, call, legacy, modern, result, text};

#[test]
fn a_handshake_client_gets_an_input_request_during_the_call() {
    let pipe = legacy(&fixture("elicit"), json!({ "elicitation": {} }), &[]);
    pipe.begin("tools/call", json!({ "name": "greet" }));
    let question = pipe.next();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "What is your name?");
    let name = &question["params"]["requestedSchema"]["properties"]["name"];
    assert_eq!(
        *name,
        json!({ "type": "string", "description": "what to call you" })
    );
    let answer = accept(&json!({ "name": "Ada" }));
    pipe.send(&message::response(&question, answer));
    assert_eq!(text(&pipe.next()["result"]), "Hello, Ada!");
}

#[test]
fn a_stateless_client_calls_again_with_the_response() {
    let pipe = modern(&fixture("elicit"), json!({ "elicitation": {} }));
    let asked = result(&pipe, json!({ "name": "greet" }));
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
        assert_eq!(text(&result(&pipe, params)), says);
    }
    let wrong = json!({ "name": "greet", "inputResponses": { "name": accept(&json!({})) } });
    assert_eq!(result(&pipe, wrong)["resultType"], "input_required");
}

#[test]
fn confirm_is_whether_the_user_accepts() {
    let pipe = modern(&fixture("confirm"), json!({ "elicitation": {} }));
    let question = "Delete all notes?";
    let asked = result(&pipe, json!({ "name": "clear" }));
    assert_eq!(
        asked["inputRequests"][question]["params"]["message"],
        question
    );
    for (answer, says) in [
        (accept(&json!({})), "deleted"),
        (json!({ "action": "decline" }), "kept"),
    ] {
        let params = json!({ "name": "clear", "inputResponses": { question: answer } });
        assert_eq!(text(&result(&pipe, params)), says);
    }
}

#[test]
fn the_state_comes_back_and_cannot_be_changed() {
    let pipe = modern(&fixture("once"), json!({ "elicitation": {} }));
    let yes = accept(&json!({ "yes": true }));
    let mut params = json!({ "name": "order", "inputResponses": { "first": yes } });
    let asked = result(&pipe, params.clone());
    assert!(asked["inputRequests"]["second"].is_object(), "{asked}");
    params["inputResponses"] = json!({ "second": { "action": "decline" } });
    params["requestState"] = asked["requestState"].clone();
    assert_eq!(
        text(&result(&pipe, params.clone())),
        "order 41: true and false"
    );
    let state = asked["requestState"].as_str().expect("a state");
    params["requestState"] = format!("{state}x").into();
    let (_, response) = call(&pipe, params);
    assert_eq!(response["error"]["code"], -32602);
}

#[test]
fn client_gets_no_request_that_it_does_not_support() {
    for pipe in [
        legacy(&fixture("sample"), json!({}), &[]),
        modern(&fixture("sample"), json!({})),
    ] {
        let arguments = json!({ "country": "France" });
        let (_, response) = call(&pipe, json!({ "name": "capital", "arguments": arguments }));
        assert_eq!(response["error"]["code"], -32021);
        assert_eq!(
            response["error"]["data"],
            json!({ "requiredCapabilities": { "sampling": {} } })
        );
    }
}

#[test]
fn servlets_know_their_client_in_both_protocol_eras() {
    for (pipe, says) in [
        (
            legacy(&fixture("client"), json!({ "sampling": {} }), &[]),
            "c 1, sampling: true",
        ),
        (
            modern(&fixture("client"), json!({})),
            "c 1, sampling: false",
        ),
    ] {
        assert_eq!(text(&result(&pipe, json!({ "name": "who" }))), says);
    }
}

#[test]
fn requested_progress_arrives_before_the_result() {
    for pipe in [
        legacy(&fixture("progress"), json!({}), &[]),
        modern(&fixture("progress"), json!({})),
    ] {
        let (before, _) = call(&pipe, json!({ "name": "work" }));
        assert!(before.is_empty(), "{before:?}");
        let (before, _) = call(
            &pipe,
            json!({ "name": "work", "_meta": { "progressToken": "p" } }),
        );
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
fn log_lines_reach_the_client_from_its_level_on() {
    let say = || json!({ "name": "tell", "arguments": { "text": "hello" } });
    let pipe = legacy(&fixture("client_log"), json!({}), &[]);
    let (before, _) = call(&pipe, say());
    let levels: Vec<_> = before
        .iter()
        .map(|message| &message["params"]["level"])
        .collect();
    assert_eq!(levels, ["info", "error"]);
    assert_eq!(before[0]["params"]["data"], "hello");
    let set = pipe.ask("logging/setLevel", json!({ "level": "warning" }));
    assert!(set["result"].is_object());
    assert_eq!(call(&pipe, say()).0.len(), 1);

    let pipe = modern(&fixture("client_log"), json!({}));
    assert_eq!(call(&pipe, say()).0.len(), 0);
    let mut asking = say();
    asking["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "debug" });
    assert_eq!(call(&pipe, asking).0.len(), 2);
}

#[test]
fn error_lists_all_missing_configuration() {
    let pipe = legacy(
        &fixture("settings"),
        json!({}),
        &["--config", "retries=many"],
    );
    let (_, response) = call(&pipe, json!({ "name": "user" }));
    assert_eq!(response["error"]["code"], -32603);
    let message = response["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("`user` is not set; `retries` must be an integer"),
        "{response}"
    );
    let options = ["--config", "user=ada", "--config", "retries=3"];
    let pipe = legacy(&fixture("settings"), json!({}), &options);
    assert_eq!(text(&result(&pipe, json!({ "name": "user" }))), "ada, 3");
}

/// `servlet call` on a pseudo-terminal, which `script` of util-linux makes.
#[cfg(target_os = "linux")]
#[test]
fn the_command_asks_the_user_of_a_terminal() {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    let servlet = e2e::servlet();
    // Without the limit, the test would hang if the elicitation request never came.
    let call = format!(
        "timeout --foreground {} {} call {} greet",
        puppet::PATIENCE.as_secs(),
        servlet.display(),
        fixture("elicit").display()
    );
    let mut script = Command::new("script");
    let script = script.args(["-qec", &call, "/dev/null"]);
    let script = script.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("`script` runs");
    let mut keyboard = script.stdin.take().expect("an input");
    let mut screen = script.stdout.take().expect("an output");
    let (mut shown, mut buffer) = (String::new(), [0; 1024]);
    let mut answers = [("[Y/n] ", "y\n"), ("(string, required): ", "Ada\n")].into_iter();
    let mut next = answers.next();
    loop {
        if let Some((question, answer)) = next
            && shown.ends_with(question)
        {
            keyboard.write_all(answer.as_bytes()).expect("a write");
            next = answers.next();
        }
        match screen.read(&mut buffer).expect("an output") {
            0 => break,
            count => shown += &String::from_utf8_lossy(&buffer[..count]),
        }
    }
    script.wait().expect("it ends");
    assert!(shown.contains("What is your name?"), "{shown}");
    assert!(shown.contains("Hello, Ada!"), "{shown}");
}
