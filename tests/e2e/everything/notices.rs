//! Notifications that a client gets while a tool runs.

use serde_json::{Value, json};

use super::{clients, path};
use crate::pipe::{call, legacy, modern};

/// A member of the parameters of each notification of a method.
fn params<'m>(messages: &'m [Value], method: &str, member: &str) -> Vec<&'m Value> {
    let messages = messages
        .iter()
        .inspect(|message| assert_eq!(message["method"], method));
    messages.map(|message| &message["params"][member]).collect()
}

#[test]
fn requests_with_a_token_get_progress() {
    for pipe in clients(&json!({})) {
        let tool = "test_tool_with_progress";
        let (before, _) = call(&pipe, json!({ "name": tool }));
        assert_eq!(before, [] as [Value; 0]);
        let meta = json!({ "progressToken": "progress-test-1" });
        let (before, response) = call(&pipe, json!({ "name": tool, "_meta": meta }));
        let method = "notifications/progress";
        let done = params(&before, method, "progress").into_iter();
        let done: Vec<_> = done.map(Value::as_f64).collect();
        assert_eq!(done, [Some(0.0), Some(50.0), Some(100.0)]);
        for total in params(&before, method, "total") {
            assert_eq!(total.as_f64(), Some(100.0));
        }
        for token in params(&before, method, "progressToken") {
            assert_eq!(token, "progress-test-1");
        }
        assert_eq!(response["result"].get("isError"), None);
    }
}

#[test]
fn sessions_get_log_messages_from_their_level() {
    let pipe = legacy(&path(), json!({}), &[]);
    let levels = || {
        let (before, _) = call(&pipe, json!({ "name": "test_tool_with_logging" }));
        let levels = params(&before, "notifications/message", "level").into_iter();
        levels.cloned().collect::<Vec<_>>()
    };
    assert_eq!(levels(), ["info"; 3]);
    for (level, heard) in [("debug", 3), ("info", 3), ("warning", 0)] {
        let set = pipe.ask("logging/setLevel", json!({ "level": level }));
        assert_eq!(set["result"], json!({}));
        assert_eq!(levels().len(), heard, "{level}");
    }
}

#[test]
fn stateless_requests_get_log_messages_on_request() {
    let pipe = modern(&path(), json!({}));
    let name = "test_logging_tool";
    let (before, _) = call(&pipe, json!({ "name": name }));
    assert_eq!(before, [] as [Value; 0]);
    let meta = json!({ "io.modelcontextprotocol/logLevel": "info" });
    let (before, _) = call(&pipe, json!({ "name": name, "_meta": meta }));
    let lines = params(&before, "notifications/message", "data");
    assert_eq!(lines, ["A log message."]);
}
