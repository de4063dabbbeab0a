//! Retried requests since protocol version 2026-07-28: with invalid responses, with a changed state,
//! or by clients with fewer capabilities.

use serde_json::{Value, json};

use super::{able, path};
use crate::pipe::{accept, call, modern, result, text};

#[test]
fn invalid_response_is_requested_again_and_unknown_one_is_ignored() {
    let pipe = modern(&path(), able());
    let answered = |answers: Value| {
        let name = "test_input_required_result_elicitation";
        result(&pipe, json!({ "name": name, "inputResponses": answers }))
    };
    for wrong in [
        json!({}),
        json!({ "other": accept(&json!({ "name": "Ada" })) }),
        json!({ "user_name": accept(&json!({ "name": 7 })) }),
        json!({ "user_name": accept(&json!({ "nome": "Ada" })) }),
        json!({ "user_name": { "action": "accept" } }),
    ] {
        let again = answered(wrong.clone());
        assert_eq!(again["resultType"], "input_required", "{wrong}");
        assert!(again["inputRequests"]["user_name"].is_object(), "{wrong}");
    }
    let name = accept(&json!({ "name": "Ada" }));
    let result = answered(json!({ "user_name": name, "other": { "action": "decline" } }));
    assert_eq!(text(&result), "Hello, Ada!");
    let result = answered(json!({ "user_name": { "action": "decline" } }));
    assert_eq!(text(&result), "Hello, stranger!");
}

#[test]
fn changed_or_foreign_state_is_refused() {
    let pipe = modern(&path(), able());
    let name = "test_input_required_result_tampered_state";
    let asked = result(&pipe, json!({ "name": name }));
    let state = asked["requestState"].as_str().expect("a state");
    let answers = json!({ "confirm": accept(&json!({ "ok": true })) });
    let (start, end) = state.split_at(state.len() / 2);
    for (name, state) in [
        (name, format!("{start}x{end}")),
        (name, start.to_owned()),
        (name, "made up".to_owned()),
        ("test_input_required_result_request_state", state.to_owned()),
    ] {
        let params = json!({ "name": name, "inputResponses": answers, "requestState": state });
        let (_, response) = call(&pipe, params);
        assert_eq!(response["error"]["code"], -32602, "{state}: {response}");
    }
}

#[test]
fn only_supported_requests_are_sent_to_the_client() {
    let questions = |capabilities: Value| {
        let pipe = modern(&path(), capabilities);
        let result = result(
            &pipe,
            json!({ "name": "test_input_required_result_capabilities" }),
        );
        let questions = result["inputRequests"].as_object().cloned();
        let keys = questions.map(|all| all.keys().cloned().collect::<Vec<_>>());
        keys.unwrap_or_else(|| vec![text(&result).to_owned()])
    };
    assert_eq!(questions(json!({ "sampling": {} })), ["capital_question"]);
    assert_eq!(questions(json!({ "elicitation": {} })), ["user_name"]);
    assert_eq!(questions(json!({})), ["answers: "]);
}
