//! Checks what servlets return for resources, prompts and completion, before a client gets it.

use mcp_servlet_call::{CallError, CallErrorKind, JsonObject, RpcError, asks_client};
use mcp_servlet_common::shape;
use mcp_servlet_schema::Problem;
use serde_json::{Value, json};

use super::Servlet;
use crate::{
    CompleteResult, GetPromptResult, ReadResourceResult,
    features::{COMPLETE, GET_PROMPT, READ_RESOURCE},
};

/// The contents of a resource. All ways to report a missing resource become the same error.
pub(super) fn resource(
    servlet: &Servlet,
    uri: &str,
    output: Result<Vec<u8>, CallError>,
) -> Result<ReadResourceResult, CallError> {
    let output = match output {
        Err(CallError {
            kind: CallErrorKind::Fault { fault },
            ..
        }) if says_not_found(&fault) => return Err(CallError::unknown_resource(uri)),
        other => other?,
    };
    let mut json = object(servlet, READ_RESOURCE, "resources/read", &output)?;
    if asks_client(&json) {
        return Ok(ReadResourceResult::new(json));
    }
    let failed = json.shift_remove("isError") == Some(Value::Bool(true));
    let contents = contents(&mut json).map_err(|problem| wrong(servlet, READ_RESOURCE, problem))?;
    if failed {
        let texts: Vec<_> = contents
            .iter()
            .filter_map(|one| one["text"].as_str())
            .collect();
        let (name, export) = (servlet.name(), Some(READ_RESOURCE));
        let fault = Box::new(RpcError::internal(name, export, texts.join("\n")));
        return Err(CallErrorKind::Fault { fault }.at(name, export));
    }
    if contents.is_empty() {
        return Err(CallError::unknown_resource(uri));
    }
    json.shift_insert(0, "contents".to_owned(), contents.into());
    Ok(ReadResourceResult::new(json))
}

/// MCP has had two codes for a missing resource. The newer code has other uses, in which the error
/// data has no URI.
fn says_not_found(fault: &RpcError) -> bool {
    let names_uri = fault
        .data
        .as_ref()
        .is_some_and(|data| data["uri"].is_string());
    fault.code == RpcError::RESOURCE_NOT_FOUND
        || fault.code == RpcError::INVALID_PARAMS && names_uri
}

fn contents(json: &mut JsonObject) -> Result<Vec<Value>, Problem> {
    let mut contents = match json.shift_remove("contents") {
        Some(Value::Array(contents)) => contents,
        other => return Err(Problem::expected("/contents", "an array", other.as_ref())),
    };
    for (at, one) in contents.iter_mut().enumerate() {
        let at = |below: &str| format!("/contents/{at}{below}");
        let Value::Object(one) = one else {
            return Err(Problem::expected(at(""), "an object", Some(one)));
        };
        if !one.get("uri").is_some_and(Value::is_string) {
            return Err(Problem::expected(at("/uri"), "a string", one.get("uri")));
        }
        match (one.get("text"), one.get("blob")) {
            (Some(Value::String(_)), None) | (None, Some(Value::String(_))) => {}
            (Some(_), Some(_)) => return Err(Problem::new(at(""), "both `text` and `blob`")),
            (text, None) => return Err(Problem::expected(at("/text"), "a string", text)),
            (None, blob) => return Err(Problem::expected(at("/blob"), "a string", blob)),
        }
    }
    Ok(contents)
}

/// The messages of a prompt.
pub(super) fn prompt(servlet: &Servlet, output: &[u8]) -> Result<GetPromptResult, CallError> {
    let json = object(servlet, GET_PROMPT, "prompts/get", output)?;
    if asks_client(&json) || json.get("messages").is_some_and(Value::is_array) {
        return Ok(GetPromptResult::new(json));
    }
    let problem = Problem::expected("/messages", "an array", json.get("messages"));
    Err(wrong(servlet, GET_PROMPT, problem))
}

/// The suggestions, limited to the number that MCP allows.
pub(super) fn completion(servlet: &Servlet, output: &[u8]) -> Result<CompleteResult, CallError> {
    const MAX_VALUES: usize = 100;
    let mut json = object(servlet, COMPLETE, "completion/complete", output)?;
    let values = json
        .get_mut("completion")
        .and_then(|completion| completion.get_mut("values"));
    let Some(Value::Array(values)) = values else {
        let problem = Problem::expected("/completion/values", "an array", values.as_deref());
        return Err(wrong(servlet, COMPLETE, problem));
    };
    if values.len() > MAX_VALUES {
        values.truncate(MAX_VALUES);
        json["completion"]["hasMore"] = true.into();
    }
    Ok(CompleteResult::new(json))
}

/// The result of a servlet without suggestions.
pub(super) fn no_completion() -> CompleteResult {
    let completion = json!({ "values": [] });
    CompleteResult::new(JsonObject::from_iter([(
        "completion".to_owned(),
        completion,
    )]))
}

/// The output of an export, which is the result of this method of MCP.
fn object(
    servlet: &Servlet,
    export: &'static str,
    method: &str,
    output: &[u8],
) -> Result<JsonObject, CallError> {
    let json = serde_json::from_slice(output)
        .map_err(|error| wrong(servlet, export, Problem::syntax(&error)))?;
    match json {
        Value::Object(mut json) => {
            shape::drop_nulls(method, &mut json);
            Ok(json)
        }
        other => {
            let problem = Problem::expected("top level", "an object", Some(&other));
            Err(wrong(servlet, export, problem))
        }
    }
}

fn wrong(servlet: &Servlet, export: &'static str, problem: Problem) -> CallError {
    let Problem {
        at,
        message: problem,
    } = problem;
    CallErrorKind::BadOutput { at, problem }.at(servlet.name(), Some(export))
}
