//! The tools of an endpoint with `search`: one finds tools, and two call what it has found.
//!
//! A call of one of these two becomes a call of the other tool before anything else looks at it.

use std::{borrow::Cow, iter};

use mcp_servlet_access::Refusal;
use mcp_servlet_call::{CallError, CallErrorKind, JsonObject};
use mcp_servlet_host::{CALL_READ_ONLY_TOOL, CALL_TOOL, CallToolResult, Host, SearchCall, Tool};
use mcp_servlet_schema::Schemas;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::legacy;
use crate::{era::Era, permissions::Permissions};

/// How many characters of a schema are in a text.
const MAX_SCHEMA: usize = 4_000;
/// How many characters of a description, or of a query, are in a text.
const MAX_LINE: usize = 300;

/// What a request asks for.
#[derive(Default)]
pub(super) struct Resolved {
    /// The search tool that the client called, if the request now names the tool that it calls.
    pub(super) via: Option<&'static str>,
    /// The result, if no tool has to run.
    pub(super) result: Option<JsonObject>,
}

/// Whether the host has the tool that a request calls, directly or through a search. False for a search itself: a remote that is
/// reached later may have more to find.
pub(super) fn is_known(host: &Host, request: &CallToolRequestParams) -> bool {
    match host.search_call(&request.name, request.arguments.as_ref()) {
        None => host.tool(&request.name).is_some(),
        Some(Ok(SearchCall::Call { name, .. })) => host.tool(&name).is_some(),
        Some(Ok(SearchCall::Find { .. })) => false,
        Some(Err(_)) => true,
    }
}

/// Answers a search, and replaces a call of a tool that calls another one.
pub(super) fn resolve(
    permissions: &Permissions,
    era: Era,
    request: &mut CallToolRequestParams,
) -> Resolved {
    let host = &permissions.host;
    let answered = |result| Resolved {
        via: None,
        result: Some(result),
    };
    match host.search_call(&request.name, request.arguments.as_ref()) {
        None => Resolved::default(),
        Some(Err(problem)) => answered(error(problem)),
        Some(Ok(SearchCall::Find { query, most })) => {
            answered(found(permissions, era, &query, most))
        }
        Some(Ok(SearchCall::Call {
            name,
            arguments,
            must_be_read_only,
        })) => {
            // A tool that the caller does not have is an unknown one, whether it is read-only or not.
            let may_write = || permissions.tool(&name).is_some() && !host.is_read_only(&name);
            let result = (must_be_read_only && may_write())
                .then(|| error(format!("{name} is not declared read-only; use {CALL_TOOL}")));
            request.name = Cow::Owned(name);
            request.arguments = arguments;
            Resolved {
                via: Some(if must_be_read_only {
                    CALL_READ_ONLY_TOOL
                } else {
                    CALL_TOOL
                }),
                result,
            }
        }
    }
}

/// The result of a call that failed because the caller has no tool with this name.
pub(super) fn unknown(failure: &CallError, name: &str) -> Option<JsonObject> {
    match &failure.kind {
        CallErrorKind::UnknownTool { tool, similar } if tool == name => {
            let similar = similar
                .as_ref()
                .map(|similar| format!("; there is {}", quoted(similar)));
            let name = quoted(&summary(name));
            let similar = similar.unwrap_or_default();
            Some(error(format!("there is no tool {name}{similar}")))
        }
        _ => None,
    }
}

/// The result of a call without the scopes that it needs. The HTTP status cannot report it: it is decided before the
/// arguments are read.
pub(super) fn refused(name: &str, refusal: &Refusal) -> JsonObject {
    let scopes: Vec<_> = refusal.scopes.iter().map(String::as_str).collect();
    let message = refusal.message;
    error(format!("{message}: {name} needs {}", scopes.join(", ")))
}

/// Adds the schema to the error of a call with arguments that do not match it.
pub(super) fn explain(tool: &Tool, arguments: Option<&JsonObject>, result: &mut JsonObject) {
    let does_not_match = || {
        let schemas = Schemas::of(tool.json());
        schemas.is_ok_and(|schemas| schemas.arguments(false, arguments).is_err())
    };
    if result.get("isError") != Some(&Value::Bool(true)) || !does_not_match() {
        return;
    }
    if let Some(Value::Array(content)) = result.get_mut("content") {
        content.push(json!({ "type": "text", "text": schema_in_words(tool) }));
    }
}

/// The tools that match a query.
fn found(permissions: &Permissions, era: Era, query: &str, most: usize) -> JsonObject {
    let all = permissions.tools().count();
    if query.trim().is_empty() {
        let text = format!("{}; {}", counted(all), servers(permissions));
        return result(text, &[], all, era);
    }
    let found = permissions.find_tools(query);
    let quoted_query = quoted(&summary(query));
    if found.is_empty() {
        let text = format!("no tool matches {quoted_query}; {}", servers(permissions));
        return result(text, &[], 0, era);
    }
    let total = found.len();
    let shown = &found[..total.min(most)];
    let best = if shown.len() < total {
        format!("; the best {}", shown.len())
    } else {
        String::new()
    };
    let verb = if total == 1 { "matches" } else { "match" };
    let head = format!("{total} of {} {verb} {quoted_query}{best}:", counted(all));
    let lines = shown.iter().map(|tool| {
        let hint = if permissions.host.is_read_only(tool.name()) {
            " (read-only)"
        } else {
            ""
        };
        let description = summary(tool.description().unwrap_or_default());
        let separator = if description.is_empty() { "" } else { ": " };
        format!("- {}{hint}{separator}{description}", tool.name())
    });
    let advice =
        format!("Call a read-only tool with {CALL_READ_ONLY_TOOL}, others with {CALL_TOOL}.");
    let lines: Vec<_> = iter::once(head)
        .chain(lines)
        .chain([schema_in_words(shown[0]), advice])
        .collect();
    result(lines.join("\n"), shown, total, era)
}

/// How many tools the caller has of each server.
fn servers(permissions: &Permissions) -> String {
    let mut servers: Vec<(&str, usize)> = Vec::new();
    for tool in permissions.tools() {
        let server = permissions.host.server_of(tool.name()).unwrap_or_default();
        match servers.iter_mut().find(|(name, _)| *name == server) {
            Some((_, count)) => *count += 1,
            None => servers.push((server, 1)),
        }
    }
    let servers: Vec<_> = servers
        .into_iter()
        .map(|(name, count)| format!("{name} ({})", counted(count)))
        .collect();
    format!("servers: {}", servers.join(", "))
}

fn counted(tools: usize) -> String {
    let word = if tools == 1 { "tool" } else { "tools" };
    format!("{tools} {word}")
}

fn result(text: String, shown: &[&Tool], total: usize, era: Era) -> JsonObject {
    let tools: Vec<_> = shown.iter().map(|tool| entry(tool, era)).collect();
    JsonObject::from_iter([
        (
            "content".to_owned(),
            json!([{ "type": "text", "text": text }]),
        ),
        (
            "structuredContent".to_owned(),
            json!({ "tools": tools, "total": total }),
        ),
    ])
}

/// A tool as a search returns it, with the schema that its list would have.
fn entry(tool: &Tool, era: Era) -> JsonObject {
    let mut json = tool.json().clone();
    if era == Era::Legacy {
        legacy::fit(&mut json);
    }
    json.retain(|key, _| ["name", "description", "inputSchema", "annotations"].contains(&&**key));
    json
}

fn schema_in_words(tool: &Tool) -> String {
    let schema = Value::from(tool.input_schema().clone()).to_string();
    format!("Arguments of {}: {}", tool.name(), cut(&schema, MAX_SCHEMA))
}

/// The first line of a text, and how much more there is.
fn summary(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    cut(text, MAX_LINE.min(line.chars().count()))
}

/// This many characters of a text, and how much more there is.
fn cut(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most);
    let (text, more) = text.split_at(end.map_or(text.len(), |(end, _)| end));
    match more.trim().chars().count() {
        0 => text.to_owned(),
        more => format!("{text}… ({more} more characters)"),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn error(text: String) -> JsonObject {
    CallToolResult::error(text).into_json()
}
