//! The results of `initialize` and `server/discover`, which rmcp reads and refuses without a reason.

use std::borrow::Cow;

use mcp_servlet_common::json_problem;
use rmcp::model::{DiscoverResult, InitializeResult, ProtocolVersion};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};

/// The result of `initialize`, if it has what MCP requires.
pub(super) fn initialize(text: &str) -> Result<(), Error> {
    let result = object(text, "initialize")?;
    let at = |pointer: &str| result.pointer(pointer);
    text_at(at("/protocolVersion"), "initialize", "/protocolVersion")?;
    object_at(at("/capabilities"), "initialize", "/capabilities")?;
    object_at(at("/serverInfo"), "initialize", "/serverInfo")?;
    for pointer in ["/serverInfo/name", "/serverInfo/version"] {
        text_at(at(pointer), "initialize", pointer)?;
    }
    readable::<InitializeResult>(&result, "initialize")
}

/// The result of `server/discover`, if it has what MCP requires, with the members for caches that many servers leave out.
pub(super) fn discover(text: Cow<'_, RawValue>) -> Result<Cow<'_, RawValue>, Error> {
    let method = "server/discover";
    let mut result = object(text.get(), method)?;
    object_at(result.get("capabilities"), method, "/capabilities")?;
    let found = result.get("supportedVersions");
    let versions: Vec<_> = found
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if versions.is_empty() {
        let expected = "an array of versions";
        return Err(wrong(method, "/supportedVersions", expected, found));
    }
    // A server that only has versions with `initialize` gets it. They are dates, so they compare as strings.
    let stateless = ProtocolVersion::V_2026_07_28;
    if versions.iter().all(|version| *version < stateless.as_str()) {
        return Err(no_common_version(&versions));
    }
    // A missing hint means that the result must not be cached. As MCP wants it, an absent type is that of a complete result.
    let missing = [
        ("resultType", json!("complete")),
        ("ttlMs", json!(0)),
        ("cacheScope", json!("private")),
    ];
    let has_all = missing.iter().all(|(name, _)| result.get(name).is_some());
    for (name, value) in missing {
        if result.get(name).is_none() {
            result[name] = value;
        }
    }
    readable::<DiscoverResult>(&result, method)?;
    if has_all {
        return Ok(text);
    }
    let text = RawValue::from_string(result.to_string());
    Ok(Cow::Owned(text.expect("a value is JSON")))
}

/// The error for a server that has only these protocol versions.
pub(crate) fn no_common_version(versions: &[&str]) -> Error {
    let versions = versions.join(", ");
    let message = format!("no common protocol version: the server has {versions}");
    Error::new(ErrorKind::Protocol, message)
}

fn object(text: &str, method: &str) -> Result<Value, Error> {
    let result: Value = serde_json::from_str(text).unwrap_or_default();
    object_at(Some(&result), method, "")?;
    Ok(result)
}

fn object_at(value: Option<&Value>, method: &str, at: &str) -> Result<(), Error> {
    value
        .and_then(Value::as_object)
        .map(|_: &Map<_, _>| ())
        .ok_or_else(|| wrong(method, at, "an object", value))
}

fn text_at(value: Option<&Value>, method: &str, at: &str) -> Result<(), Error> {
    match value {
        Some(Value::String(_)) => Ok(()),
        _ => Err(wrong(method, at, "a string", value)),
    }
}

/// Checks the members that MCP does not require.
fn readable<'de, T: Deserialize<'de>>(result: &'de Value, method: &str) -> Result<(), Error> {
    match json_problem::<T, _>(result) {
        None => Ok(()),
        Some(problem) => Err(Error::new(
            ErrorKind::Protocol,
            format!("the result of `{method}` is wrong: {problem}"),
        )),
    }
}

fn wrong(method: &str, at: &str, expected: &str, found: Option<&Value>) -> Error {
    let found = found.map_or("nothing", super::kind);
    let place = match at {
        "" => String::new(),
        at => format!(" at `{at}`"),
    };
    let message =
        format!("the result of `{method}` is wrong{place}: expected {expected}, found {found}");
    Error::new(ErrorKind::Protocol, message)
}
