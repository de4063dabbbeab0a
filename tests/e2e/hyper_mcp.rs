//! Servlets for hyper-mcp in our host: ours return the same results as their default builds, and
//! servlets of other authors work too.

use std::path::Path;

use e2e::{Profile, fixture, hyper_mcp, hyper_mcp_fixture, servlet_command, wasm};
use puppet::eventually_blocking;
use serde_json::{Value, json};
use wire::{
    Process,
    message::{self, numbered, request},
};

use crate::pipe::{call, legacy, modern};

/// The capabilities of a client that can do everything.
fn all() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

/// The answer to any request of the examples. Forms ignore entries that they do not have.
fn response(method: &str) -> Value {
    match method {
        "elicitation/create" => json!({ "action": "accept", "content": {
            "username": "ada", "email": "a@b.c", "name": "Ada", "ok": true, "color": "red", "context": "rain",
        }}),
        "sampling/createMessage" => json!({
            "role": "assistant", "content": { "type": "text", "text": "Paris" }, "model": "m",
        }),
        "roots/list" => json!({ "roots": [{ "uri": "file:///home" }] }),
        other => panic!("unexpected input request {other}"),
    }
}

/// All messages of the server until the result of a request; its own requests get answers.
fn conversation(pipe: &Process, method: &str, params: &Value) -> Vec<Value> {
    let mut messages = Vec::new();
    pipe.begin(method, params.clone());
    loop {
        let mut message = pipe.next();
        let (id, asked) = (message["id"].clone(), message["method"].clone());
        let asked = asked.as_str().filter(|_| !id.is_null());
        if let Some(asked) = asked {
            pipe.send(&message::response(&message, response(asked)));
            messages.push(message);
            continue;
        }
        let result = &mut message["result"];
        let questions = result["inputRequests"].as_object().cloned();
        let state = result
            .as_object_mut()
            .and_then(|result| result.shift_remove("requestState"));
        let has_ended = !id.is_null() && questions.is_none();
        message
            .as_object_mut()
            .expect("an object")
            .shift_remove("id");
        messages.push(message);
        if has_ended {
            return messages;
        }
        if let Some(questions) = questions {
            let answer = |(key, asked): (&String, &Value)| {
                (
                    key.clone(),
                    response(asked["method"].as_str().unwrap_or_default()),
                )
            };
            let mut again = params.clone();
            again["inputResponses"] = questions.iter().map(answer).collect();
            if let Some(state) = state {
                again["requestState"] = state;
            }
            pipe.begin(method, again);
        }
    }
}

/// One request for each kind of feature in the example.
fn requests() -> Vec<(&'static str, Value)> {
    let tool = |name: &str| ("tools/call", json!({ "name": name }));
    let round = |name: &str| tool(&format!("test_input_required_result_{name}"));
    let asking = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let progress = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "p" } });
    let argument = json!({ "name": "id", "value": "12" });
    let uri = "test://template/{id}/data";
    vec![
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({ "uri": "test://static-text" })),
        ("resources/read", json!({ "uri": "test://template/7/data" })),
        ("resources/read", json!({ "uri": "test://nothing" })),
        (
            "prompts/get",
            json!({ "name": "test_prompt_with_arguments", "arguments": { "arg1": "a" } }),
        ),
        (
            "prompts/get",
            json!({ "name": "test_prompt_with_arguments" }),
        ),
        (
            "prompts/get",
            json!({ "name": "test_input_required_result_prompt" }),
        ),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": uri }, "argument": argument }),
        ),
        tool("test_simple_text"),
        tool("test_error_handling"),
        tool("test_structured_content"),
        tool("test_tool_with_logging"),
        tool("nothing"),
        ("tools/call", progress),
        ("tools/call", asking),
        round("sampling"),
        round("list_roots"),
        round("request_state"),
        round("multiple_inputs"),
        round("multi_round"),
        round("capabilities"),
    ]
}

#[test]
fn both_abis_return_the_same_in_both_protocol_eras() {
    let builds = [
        wasm("everything", Profile::Servlet),
        hyper_mcp("everything"),
    ];
    let open: [fn(&Path) -> Process; 2] =
        [|wasm| legacy(wasm, all(), &[]), |wasm| modern(wasm, all())];
    for open in open {
        let [servlet, other] = [open(&builds[0]), open(&builds[1])];
        for (method, params) in requests() {
            let expected = conversation(&servlet, method, &params);
            let messages = conversation(&other, method, &params);
            assert_eq!(messages, expected, "{method} {params}");
        }
    }
}

#[test]
fn functions_list_resources_in_both_abis() {
    let uris = |pipe: &Process| -> Vec<String> {
        let messages = conversation(pipe, "resources/list", &json!({}));
        let resources = messages
            .last()
            .map(|message| &message["result"]["resources"]);
        let resources = resources.and_then(Value::as_array).expect("a list");
        let uris = resources.iter().filter_map(|one| one["uri"].as_str());
        uris.map(str::to_owned).collect()
    };
    for wasm in [fixture("listed"), hyper_mcp_fixture("listed")] {
        let pipe = legacy(&wasm, all(), &[]);
        assert_eq!(uris(&pipe), ["notes:///count", "notes:///first"]);
        let written = json!({ "name": "write", "arguments": { "name": "second" } });
        conversation(&pipe, "tools/call", &written);
        let expected = ["notes:///count", "notes:///first", "notes:///second"];
        // The server lists again some time after the servlet reports the change.
        eventually_blocking(format!("{expected:?}"), || {
            let found = uris(&pipe);
            if found == expected {
                Ok(())
            } else {
                Err(format!("{found:?}"))
            }
        });
    }
}

#[test]
fn neither_abi_sends_unsupported_requests() {
    for path in [hyper_mcp("everything"), fixture("hyper_mcp")] {
        let name = if path == fixture("hyper_mcp") {
            "interview"
        } else {
            "test_missing_capability"
        };
        for pipe in [legacy(&path, json!({}), &[]), modern(&path, json!({}))] {
            let (before, response) = call(&pipe, json!({ "name": name }));
            assert!(before.is_empty(), "{before:?}");
            assert_eq!(response["error"]["code"], -32021, "{response}");
        }
    }
}

/// The results of the three requests that the plugin sends to its client.
fn interviewed(messages: &[Value]) -> [Value; 3] {
    let result = messages.last().expect("a result");
    let text = result["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{result}"));
    let mut answers = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    [(); 3].map(|()| answers.next().expect("an answer"))
}

#[test]
fn input_requests_return_the_response_of_a_client_of_either_era() {
    let path = fixture("hyper_mcp");
    for pipe in [legacy(&path, all(), &[]), modern(&path, all())] {
        let messages = conversation(&pipe, "tools/call", &json!({ "name": "interview" }));
        assert_eq!(
            messages.len(),
            4,
            "three questions and a result: {messages:?}"
        );
        let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
        assert_eq!(interviewed(&messages), methods.map(response));
        let form = match messages[0]["result"]["inputRequests"].as_object() {
            Some(questions) => questions.values().next().expect("one")["params"].clone(),
            None => messages[0]["params"].clone(),
        };
        let at = json!({ "type": "string", "format": "date-time" });
        let schema = json!({ "type": "object", "properties": { "at": at } });
        assert_eq!(form["requestedSchema"], schema);
        assert_eq!(form["message"], "When?");
        assert_eq!(form["timeout"], Value::Null);
    }
}

#[test]
fn the_id_of_a_request_is_the_one_that_the_client_gave() {
    let pipe = legacy(&fixture("hyper_mcp"), json!({}), &[]);
    for id in [json!(7), json!("seven")] {
        let params = json!({ "name": "id" });
        pipe.send(&numbered(id.clone(), request("tools/call", params)));
        let text = pipe.next()["result"]["content"][0]["text"].clone();
        assert_eq!(text, id.to_string());
    }
}

#[test]
fn reads_changed_lists_again_and_notifies_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("servlet.toml");
    let path = fixture("hyper_mcp");
    let text = format!("[servlet.facts]\nsource = {path:?}\ntools = {{ prefix = \"facts\" }}\n");
    std::fs::write(&file, text).expect("a file");
    let pipe = legacy(&file, json!({}), &[]);
    let before = pipe.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(before[1]["name"], "facts_learn", "{before}");
    let uri = json!({ "uri": "facts://all" });
    let subscribed = pipe.ask("resources/subscribe", uri.clone());
    assert!(subscribed["result"].is_object());
    pipe.begin("tools/call", json!({ "name": "facts_learn" }));
    let mut messages = [pipe.next(), pipe.next(), pipe.next()];
    // The result and the notifications arrive in any order.
    messages.sort_by_key(|message| message["method"].as_str().map(str::to_owned));
    let [result, updated, changed] = messages;
    assert_eq!(
        result["result"]["content"][0]["text"], "learned",
        "{result}"
    );
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"], uri);
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    let after = pipe.ask("tools/list", json!({}));
    assert_eq!(after["result"]["tools"][3]["name"], "facts_learned");
}

#[test]
fn inspect_names_the_abi() {
    for (path, abi) in [
        (wasm("greet", Profile::Servlet), "servlet"),
        (hyper_mcp("greet"), "hyper-mcp-v2"),
        (fixture("hyper_mcp"), "hyper-mcp-v2"),
    ] {
        let mut command = servlet_command(["inspect"]);
        let output = command.arg(path).output().expect("the command runs");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            printed.contains(&format!("\n  abi      {abi}\n")),
            "{printed}"
        );
    }
}
