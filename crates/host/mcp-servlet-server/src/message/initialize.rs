//! The parameters of `initialize`, which clients write in many ways.
//!
//! PHP writes an empty object as `[]`, and some clients write `true` for a capability without settings. Both become an empty
//! object. An optional member that is null is removed.

use mcp_servlet_common::json_problem;
use rmcp::model::InitializeRequestParams;
use serde_json::{Map, Value, json};

/// What clients wrote, in a form that rmcp reads.
///
/// # Errors
/// The member that is wrong, in the words of MCP.
pub(super) fn normalized(params: &str) -> Result<Value, String> {
    let mut params: Value = serde_json::from_str(params).map_err(|error| error.to_string())?;
    let members = params.as_object_mut().ok_or("expected an object")?;
    members.retain(|name, value| name != "_meta" || !is_empty(value));
    string(members, "protocolVersion", "")?;
    let mut empty = json!({});
    let capabilities = members
        .get_mut("capabilities")
        .ok_or("`capabilities` is missing")?;
    if is_empty(capabilities) {
        *capabilities = empty.take();
    }
    let all = capabilities.as_object_mut();
    normalize(all.ok_or("expected an object in `capabilities`")?)?;
    let info = members
        .get_mut("clientInfo")
        .map(Value::as_object_mut)
        .ok_or("`clientInfo` is missing")?
        .ok_or("expected an object in `clientInfo`")?;
    info.retain(|_, value| !value.is_null());
    for name in ["name", "version"] {
        string(info, name, "clientInfo.")?;
    }
    for name in ["title", "description", "websiteUrl"] {
        if info.contains_key(name) {
            string(info, name, "clientInfo.")?;
        }
    }
    match json_problem::<InitializeRequestParams, _>(&params) {
        None => Ok(params),
        Some(problem) => Err(problem),
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn string(members: &Map<String, Value>, name: &str, path: &str) -> Result<(), String> {
    match members.get(name) {
        Some(Value::String(_)) => Ok(()),
        Some(_) => Err(format!("expected a string in `{path}{name}`")),
        None => Err(format!("`{path}{name}` is missing")),
    }
}

/// The members of a capability that are objects.
fn settings(capability: &str) -> &'static [&'static str] {
    match capability {
        "sampling" => &["context", "tools"],
        "elicitation" => &["form", "url"],
        "tasks" => &["cancel", "list", "requests"],
        _ => &[],
    }
}

fn normalize(capabilities: &mut Map<String, Value>) -> Result<(), String> {
    const OBJECTS: [&str; 6] = [
        "elicitation",
        "experimental",
        "extensions",
        "roots",
        "sampling",
        "tasks",
    ];
    objects(capabilities, "capabilities", |name| OBJECTS.contains(&name))?;
    for (name, value) in capabilities {
        let Value::Object(members) = value else {
            continue;
        };
        let has_any = matches!(&**name, "experimental" | "extensions");
        let path = format!("capabilities.{name}");
        objects(members, &path, |member| {
            has_any || settings(name).contains(&member)
        })?;
        if name == "roots" {
            members.retain(|_, value| !value.is_null());
            if members
                .get("listChanged")
                .is_some_and(|value| !value.is_boolean())
            {
                return Err(format!("expected a boolean in `{path}.listChanged`"));
            }
        }
    }
    Ok(())
}

/// Makes objects of those members that must be objects.
fn objects(
    members: &mut Map<String, Value>,
    path: &str,
    is_object: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let is_absent = |value: &Value| value.is_null() || *value == Value::Bool(false);
    members.retain(|name, value| !(is_object(name) && is_absent(value)));
    for (name, value) in members.iter_mut().filter(|(name, _)| is_object(name)) {
        if is_empty(value) || *value == Value::Bool(true) {
            *value = json!({});
        }
        if !value.is_object() {
            return Err(format!("expected an object in `{path}.{name}`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(capabilities: &str) -> Result<Value, String> {
        let params = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1","title":null}}}}"#
        );
        normalized(&params).map(|mut params| params["capabilities"].take())
    }

    #[test]
    fn capabilities_become_objects() {
        for (written, expected) in [
            ("{}", json!({})),
            ("[]", json!({})),
            ("null", json!({})),
            (r#"{"experimental":[]}"#, json!({ "experimental": {} })),
            (
                r#"{"experimental":{"x":[]}}"#,
                json!({ "experimental": { "x": {} } }),
            ),
            (
                r#"{"experimental":{"x":true}}"#,
                json!({ "experimental": { "x": {} } }),
            ),
            (
                r#"{"experimental":{"x":{"y":[]}}}"#,
                json!({ "experimental": { "x": { "y": [] } } }),
            ),
            (
                r#"{"extensions":{"a/b":null}}"#,
                json!({ "extensions": {} }),
            ),
            (r#"{"sampling":true}"#, json!({ "sampling": {} })),
            (
                r#"{"sampling":{"tools":[]}}"#,
                json!({ "sampling": { "tools": {} } }),
            ),
            (
                r#"{"elicitation":{"form":[],"url":true}}"#,
                json!({ "elicitation": { "form": {}, "url": {} } }),
            ),
            (
                r#"{"roots":[],"tasks":[]}"#,
                json!({ "roots": {}, "tasks": {} }),
            ),
            (
                r#"{"roots":{"listChanged":true}}"#,
                json!({ "roots": { "listChanged": true } }),
            ),
            (r#"{"roots":{"listChanged":null}}"#, json!({ "roots": {} })),
            (r#"{"roots":null,"sampling":false}"#, json!({})),
            (r#"{"vendor":[]}"#, json!({ "vendor": [] })),
        ] {
            assert_eq!(read(written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn errors_name_the_member() {
        for (written, expected) in [
            ("5", "expected an object in `capabilities`"),
            ("[1]", "expected an object in `capabilities`"),
            (
                r#"{"sampling":"yes"}"#,
                "expected an object in `capabilities.sampling`",
            ),
            (
                r#"{"experimental":{"x":1}}"#,
                "expected an object in `capabilities.experimental.x`",
            ),
            (
                r#"{"elicitation":{"form":2}}"#,
                "expected an object in `capabilities.elicitation.form`",
            ),
            (
                r#"{"roots":{"listChanged":1}}"#,
                "expected a boolean in `capabilities.roots.listChanged`",
            ),
        ] {
            assert_eq!(read(written), Err(expected.to_owned()), "{written}");
        }
        for (written, expected) in [
            ("[1]", "expected an object"),
            ("{}", "`protocolVersion` is missing"),
            (
                r#"{"protocolVersion":1}"#,
                "expected a string in `protocolVersion`",
            ),
            (r#"{"protocolVersion":"1"}"#, "`capabilities` is missing"),
            (
                r#"{"protocolVersion":"1","capabilities":{}}"#,
                "`clientInfo` is missing",
            ),
            (
                r#"{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"c"}}"#,
                "`clientInfo.version` is missing",
            ),
        ] {
            assert_eq!(normalized(written), Err(expected.to_owned()), "{written}");
        }
    }
}
