//! Notifications of a servlet during a call: progress and log messages.

use std::future::ready;

use mcp_servlet_call::{JsonObject, Listener, Notification, Sending, Usage};
use serde_json::Value;

use crate::{
    failure::indented,
    terminal::{note, status},
};

/// Writes notifications to standard error as they arrive.
#[derive(Debug)]
pub(super) struct Feedback;

impl Listener for Feedback {
    fn notify(&self, notification: Notification) -> Sending<'_> {
        match notification {
            Notification::Progress(params) => show_progress(&params),
            Notification::Message(params) => show_message(&params),
            // Other notifications, such as changed lists, only matter to clients that stay connected.
            _ => {}
        }
        Box::pin(ready(()))
    }

    fn ended(&self, usage: &Usage) {
        let Usage {
            time,
            memory,
            fuel,
            input,
            output,
            ..
        } = usage;
        tracing::info!(target: "mcp_servlet_cli", ?time, memory, fuel, input, output, "the call has ended");
    }
}

/// Shows the parameters of `notifications/progress`.
pub(super) fn show_progress(params: &JsonObject) {
    status(&progress(params));
}

/// Shows the parameters of `notifications/message`, unless they are for debugging.
pub(super) fn show_message(params: &JsonObject) {
    if is_wanted(params) {
        note(format_args!("{}", indented(&message(params), "  ")));
    }
}

/// `progress: 50 of 100: counting`
fn progress(params: &JsonObject) -> String {
    let mut line = format!("progress: {}", param_as_text(params.get("progress")));
    if let Some(total) = params.get("total").filter(|total| !total.is_null()) {
        line += " of ";
        line += &param_as_text(Some(total));
    }
    match params.get("message") {
        Some(Value::String(message)) if !message.is_empty() => line + ": " + message,
        _ => line,
    }
}

/// Whether a log message is shown. Debug messages need `-vv`.
fn is_wanted(params: &JsonObject) -> bool {
    params.get("level").is_none_or(|level| level != "debug")
        || tracing::enabled!(target: "servlet", tracing::Level::DEBUG)
}

/// `log[info]: the text`, or `log[info] weather: the text` if the servlet names a logger.
fn message(params: &JsonObject) -> String {
    let logger = match params.get("logger") {
        Some(Value::String(logger)) => format!(" {logger}"),
        _ => String::new(),
    };
    let level = param_as_text(params.get("level"));
    format!(
        "log[{level}]{logger}: {}",
        param_as_text(params.get("data"))
    )
}

/// A string unchanged, any other value as JSON. Whole floats have no fraction.
fn param_as_text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => {
            number.as_f64().map_or_else(String::new, |n| n.to_string())
        }
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> &JsonObject {
        value.as_object().expect("an object")
    }

    #[test]
    fn progress_has_its_total_and_message_if_there_are_some() {
        for (params, shown) in [
            (json!({ "progress": 3.0 }), "progress: 3"),
            (
                json!({ "progress": 0.5, "total": 1, "message": "half" }),
                "progress: 0.5 of 1: half",
            ),
            (
                json!({ "progress": 2, "total": null, "message": "" }),
                "progress: 2",
            ),
        ] {
            assert_eq!(progress(object(&params)), shown);
        }
    }

    #[test]
    fn lines_of_the_log_have_their_level_and_logger() {
        for (params, shown) in [
            (
                json!({ "level": "info", "data": 9_007_199_254_740_993_u64 }),
                "log[info]: 9007199254740993",
            ),
            (
                json!({ "level": "info", "data": "on my way" }),
                "log[info]: on my way",
            ),
            (
                json!({ "level": "error", "logger": "db", "data": { "code": 7 } }),
                "log[error] db: {\"code\":7}",
            ),
        ] {
            assert_eq!(message(object(&params)), shown);
        }
    }
}
