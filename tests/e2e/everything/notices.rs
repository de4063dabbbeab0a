//! Notifications that a client gets while a tool runs.

use serde_json::{Value, json};

use super::{clients, path};
use crate::pipe::Pipe;

/// A member of the parameters of each notification of a method.
fn told<'m>(messages: &'m [Value], method: &str, member: &str) -> Vec<&'m Value> {
    let told = messages
        .iter()
        .inspect(|message| assert_eq!(message["method"], method));
    told.map(|message| &message["params"][member]).collect()
}

#[test]
fn progress_goes_from_nothing_to_all_for_who_asked_for_it() {
    for mut pipe in clients(&json!({})) {
        let tool = "test_tool_with_progress";
        let (before, _) = pipe.call(json!({ "name": tool }));
        assert_eq!(before, [] as [Value; 0]);
        let meta = json!({ "progressToken": "progress-test-1" });
        let (before, response) = pipe.call(json!({ "name": tool, "_meta": meta }));
        let method = "notifications/progress";
        let done = told(&before, method, "progress").into_iter();
        let done: Vec<_> = done.map(Value::as_f64).collect();
        assert_eq!(done, [Some(0.0), Some(50.0), Some(100.0)]);
        for total in told(&before, method, "total") {
            assert_eq!(total.as_f64(), Some(100.0));
        }
        for token in told(&before, method, "progressToken") {
            assert_eq!(token, "progress-test-1");
        }
        assert_eq!(response["result"].get("isError"), None);
    }
}

#[test]
fn sessions_hear_the_log_from_the_level_on_that_they_set() {
    let mut pipe = Pipe::legacy(&path(), json!({}), &[]);
    let levels = |pipe: &mut Pipe| {
        let (before, _) = pipe.call(json!({ "name": "test_tool_with_logging" }));
        let levels = told(&before, "notifications/message", "level").into_iter();
        levels.cloned().collect::<Vec<_>>()
    };
    assert_eq!(levels(&mut pipe), ["info"; 3]);
    for (level, heard) in [("debug", 3), ("info", 3), ("warning", 0)] {
        let (_, set) = pipe.ask("logging/setLevel", json!({ "level": level }));
        assert_eq!(set["result"], json!({}));
        assert_eq!(levels(&mut pipe).len(), heard, "{level}");
    }
}

#[test]
fn requests_that_stand_alone_hear_the_log_if_they_ask_for_it() {
    let mut pipe = Pipe::modern(&path(), json!({}));
    let name = "test_logging_tool";
    let (before, _) = pipe.call(json!({ "name": name }));
    assert_eq!(before, [] as [Value; 0]);
    let meta = json!({ "io.modelcontextprotocol/logLevel": "info" });
    let (before, _) = pipe.call(json!({ "name": name, "_meta": meta }));
    let lines = told(&before, "notifications/message", "data");
    assert_eq!(lines, ["A log message."]);
}
