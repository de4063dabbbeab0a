//! Reads every shape that results of tools have had, and writes the current shape of MCP.
//!
//! - Content of type `resource` had its resource in `Resource`, or flat, next to the type.
//! - A resource had its text or blob in a separate object: `{"uri", "text": {"text", "uri", "mimeType"}}`.
//! - Generated code writes `null` for absent fields and for empty lists, which MCP does not allow there.
//!
//! All other values that are not null pass unchanged, including unknown fields and unknown types of content.

use mcp_servlet_call::JsonObject;
use mcp_servlet_common::shape;
use mcp_servlet_schema::Problem;
use serde_json::Value;

use crate::CallToolResult;

/// Reads the output of `call`. `null_result` says whether null is a value of the tool's output schema.
pub(crate) fn read_result(output: &[u8], null_result: bool) -> Result<CallToolResult, Problem> {
    let json = serde_json::from_slice(output).map_err(|error| Problem::syntax(&error))?;
    let Value::Object(mut json) = json else {
        return Err(Problem::expected("top level", "an object", Some(&json)));
    };
    shape::drop_nulls("tools/call", &mut json);
    check_flag(&json)?;
    let content = match json.shift_remove("content") {
        Some(Value::Array(items)) => content(items)?,
        None if says_something(&json) => Vec::new(),
        other => return Err(Problem::expected("/content", "an array", other.as_ref())),
    };
    if !null_result {
        drop_nulls(&mut json, &["structuredContent"]);
    }
    // `content` comes first, where readers expect it.
    json.shift_insert(0, "content".to_owned(), Value::Array(content));
    Ok(CallToolResult::new(json))
}

/// Whether a result is valid even without content.
fn says_something(json: &JsonObject) -> bool {
    ["structuredContent", "isError", "_meta", "resultType"]
        .iter()
        .any(|key| json.contains_key(*key))
}

fn check_flag(json: &JsonObject) -> Result<(), Problem> {
    match json.get("isError") {
        None | Some(Value::Bool(_)) => Ok(()),
        other => Err(Problem::expected("/isError", "a boolean", other)),
    }
}

fn content(items: Vec<Value>) -> Result<Vec<Value>, Problem> {
    let mut content = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let within = |problem: Problem| problem.within(&format!("/content/{at}"));
        let Value::Object(mut item) = item else {
            return Err(within(Problem::expected("", "an object", Some(&item))));
        };
        drop_nulls(&mut item, &["text", "data", "resource", "Resource", "blob"]);
        match item.get("type").and_then(Value::as_str) {
            Some("text") => require(&item, "text", "/text").map_err(within)?,
            Some("image" | "audio") => check_media(&mut item).map_err(within)?,
            Some("resource") => {
                content.extend(resource(item).map_err(within)?);
                continue;
            }
            Some(_) => {}
            None => {
                return Err(within(Problem::expected(
                    "/type",
                    "a string",
                    item.get("type"),
                )));
            }
        }
        content.push(Value::Object(item));
    }
    Ok(content)
}

/// Removes members that are null in results in older formats.
fn drop_nulls(json: &mut JsonObject, keys: &[&str]) {
    json.retain(|key, value| !(value.is_null() && keys.contains(&key.as_str())));
}

fn require(json: &JsonObject, key: &str, at: &'static str) -> Result<(), Problem> {
    match json.get(key) {
        Some(Value::String(_)) => Ok(()),
        other => Err(Problem::expected(at, "a string", other)),
    }
}

/// MCP requires a media type for every image; the first servlets could leave it out.
fn check_media(item: &mut JsonObject) -> Result<(), Problem> {
    require(item, "data", "/data")?;
    if !item.contains_key("mimeType") {
        let data = item["data"].as_str().unwrap_or_default();
        item.insert("mimeType".into(), guess_type(data).into());
    }
    require(item, "mimeType", "/mimeType")
}

/// Guesses the media type from the beginning of the base64 text.
fn guess_type(base64: &str) -> &'static str {
    const SIGNATURES: [(&str, &str); 5] = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
        ("PHN2Zy", "image/svg+xml"),
    ];
    let found = SIGNATURES
        .iter()
        .find(|(start, _)| base64.starts_with(start));
    found.map_or("application/octet-stream", |(_, name)| name)
}

/// Returns one item per text or blob. The old shape can hold both; the shape of MCP cannot.
fn resource(mut item: JsonObject) -> Result<Vec<Value>, Problem> {
    let capital = item.shift_remove("Resource");
    let resource = match item.shift_remove("resource").or(capital) {
        Some(Value::Object(resource)) => resource,
        None => flat(&mut item),
        other => return Err(Problem::expected("/resource", "an object", other.as_ref())),
    };
    let parts = flatten(resource)?;
    let wrap = |part: JsonObject| {
        let mut item = item.clone();
        item.insert("resource".into(), part.into());
        Value::Object(item)
    };
    Ok(parts.into_iter().map(wrap).collect())
}

/// Takes the resource from an item that has its fields next to `type`.
fn flat(item: &mut JsonObject) -> JsonObject {
    let fields = ["uri", "mimeType", "text", "blob"];
    let mut resource: JsonObject = fields
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), item.shift_remove(key)?)))
        .collect();
    if let Some(data) = item.shift_remove("data") {
        resource.entry("blob").or_insert(data);
    }
    resource
}

fn flatten(mut resource: JsonObject) -> Result<Vec<JsonObject>, Problem> {
    drop_nulls(&mut resource, &["text", "blob", "mimeType", "_meta", "uri"]);
    let kinds = [("text", "/resource/text"), ("blob", "/resource/blob")];
    let contents = kinds.map(|(key, at)| (key, at, resource.shift_remove(key)));
    let mut parts = Vec::new();
    for (key, at, contents) in contents {
        let inner = match contents {
            None => continue,
            Some(Value::String(value)) => JsonObject::from_iter([(key.to_owned(), value.into())]),
            Some(Value::Object(inner)) => inner,
            other => {
                return Err(Problem::expected(
                    at,
                    "a string or an object",
                    other.as_ref(),
                ));
            }
        };
        require(&inner, key, at)?;
        parts.push(join(&resource, inner)?);
    }
    if parts.is_empty() {
        return Err(Problem::new(
            "/resource",
            "a resource needs `text` or `blob`",
        ));
    }
    Ok(parts)
}

/// Merges the outer fields of a resource with those of its contents. The outer fields win.
fn join(outer: &JsonObject, mut inner: JsonObject) -> Result<JsonObject, Problem> {
    drop_nulls(&mut inner, &["mimeType", "_meta", "uri"]);
    let mut joined = outer.clone();
    for (key, value) in inner {
        joined.entry(key).or_insert(value);
    }
    require(&joined, "uri", "/resource/uri")?;
    Ok(joined)
}

#[cfg(test)]
mod tests;
