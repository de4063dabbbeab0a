//! What a servlet gets to decide about a session, and what it answers.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use mcp_servlet_access::Reason;
use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{CallToolResult, bundle::Requested};
use serde::Deserialize;
use serde_json::Value;

use super::{Reject, SessionRefusal};
use crate::response_headers::ResponseHeaders;

/// The structured content of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    accept: bool,
    status: Option<u16>,
    message: Option<String>,
    headers: Option<BTreeMap<String, String>>,
}

impl Answer {
    /// What a result says. `Err` is why it says nothing.
    pub(super) fn read(result: &CallToolResult) -> Result<Result<(), Box<SessionRefusal>>, String> {
        if result.is_error() {
            return Err("the result is an error".to_owned());
        }
        let content = result
            .structured_content()
            .ok_or("the result has no structured content")?;
        let answer = Self::deserialize(content).map_err(|error| error.to_string())?;
        if answer.accept {
            return Ok(Ok(()));
        }
        answer.refusal().map(|refusal| Err(refusal.into()))
    }

    fn refusal(self) -> Result<SessionRefusal, String> {
        let status = self.status.unwrap_or(StatusCode::FORBIDDEN.as_u16());
        let status = Reject::status(status)?;
        let message = self.message.as_deref().unwrap_or(Reject::MESSAGE);
        let mut headers = ResponseHeaders::default();
        for (name, value) in self.headers.iter().flatten() {
            headers.add(name, value)?;
        }
        let mut refusal = SessionRefusal::new(Reason::SessionRefused, status, message);
        let applied = headers.apply(&mut refusal.headers, Requested::default());
        applied.map_err(|(name, error)| format!("header `{name}`: {error}"))?;
        Ok(refusal)
    }
}

/// The arguments that the schema of a tool names. All of them, if it names none and takes any.
pub(super) fn arguments_for(schema: &JsonObject, mut all: JsonObject) -> JsonObject {
    let named = schema.get("properties").and_then(Value::as_object);
    let is_open = schema.get("additionalProperties") != Some(&Value::Bool(false));
    match named {
        Some(named) if !(named.is_empty() && is_open) => {
            all.retain(|name, _| named.contains_key(name));
        }
        None if !is_open => all.clear(),
        _ => {}
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(json: Value) -> JsonObject {
        json.as_object().cloned().expect("an object")
    }

    fn read(content: Value) -> Result<Option<(u16, String)>, String> {
        let result = object(json!({ "content": [], "structuredContent": content }));
        let read = Answer::read(&CallToolResult::new(result))?;
        Ok(read
            .err()
            .map(|refusal| (refusal.status.as_u16(), refusal.message)))
    }

    #[test]
    fn an_answer_accepts_or_says_why_not() {
        assert_eq!(read(json!({ "accept": true })), Ok(None));
        let default = (403, "the server refuses this session".to_owned());
        assert_eq!(read(json!({ "accept": false })), Ok(Some(default)));
        let full = json!({ "accept": false, "status": 429, "message": "later", "headers": { "retry-after": "9" } });
        assert_eq!(read(full), Ok(Some((429, "later".to_owned()))));
        let nulls = json!({ "accept": true, "status": null, "message": null, "headers": null });
        assert_eq!(read(nulls), Ok(None));
    }

    #[test]
    fn anything_else_is_no_answer() {
        for (content, problem) in [
            (json!({}), "missing field `accept`"),
            (json!({ "accept": "yes" }), "invalid type"),
            (
                json!({ "accept": true, "reason": "x" }),
                "unknown field `reason`",
            ),
            (json!({ "accept": false, "status": 200 }), "found 200"),
            (json!({ "accept": false, "status": 999 }), "found 999"),
            (
                json!({ "accept": false, "headers": { "x": "a\r\nb: c" } }),
                "line breaks",
            ),
            (
                json!({ "accept": false, "headers": { "content-length": "1" } }),
                "sets the header",
            ),
        ] {
            let error = read(content.clone()).expect_err("no answer");
            assert!(error.contains(problem), "{content}: {error}");
        }
        let failed = object(
            json!({ "content": [], "isError": true, "structuredContent": { "accept": true } }),
        );
        assert!(Answer::read(&CallToolResult::new(failed)).is_err());
    }

    #[test]
    fn a_tool_gets_the_arguments_that_it_names() {
        let all = object(json!({ "session": "s", "client": {}, "caller": {} }));
        for (schema, expected) in [
            (
                json!({ "type": "object", "properties": { "client": {}, "other": {} } }),
                json!(["client"]),
            ),
            (
                json!({ "type": "object", "properties": {}, "additionalProperties": false }),
                json!([]),
            ),
            (
                json!({ "type": "object", "additionalProperties": false }),
                json!([]),
            ),
            (
                json!({ "type": "object" }),
                json!(["session", "client", "caller"]),
            ),
        ] {
            let names = arguments_for(&object(schema.clone()), all.clone());
            let names: Vec<_> = names.keys().collect();
            assert_eq!(json!(names), expected, "{schema}");
        }
    }
}
