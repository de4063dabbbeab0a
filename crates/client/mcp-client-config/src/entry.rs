//! Finds the servers in a document, and reads each. Clients use different words for the same things.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::{
    places::Places,
    server::{Connection, Secret, Transport},
    source::Source,
};

/// The types of Goose's extensions that are part of Goose, and not MCP servers.
const PARTS_OF_GOOSE: [&str; 4] = ["builtin", "platform", "frontend", "inline_python"];

/// What an entry says.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) is_disabled: bool,
    pub(crate) startup_timeout: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) connection: Connection,
}

/// The entries of a document, by name, and what is wrong with the members that should have them.
pub(crate) fn entries<'a>(
    source: Source,
    places: &Places,
    document: &'a Value,
) -> (Vec<(&'a String, &'a Value)>, Vec<String>) {
    let mut entries = Vec::new();
    let mut problems = Vec::new();
    if !document.is_object() && !document.is_null() {
        problems.push(format!("expected an object, found {}", kind(document)));
    }
    for (name, servers) in members(source, places, document) {
        match servers.as_object() {
            Some(servers) => entries.extend(servers),
            None => problems.push(format!(
                "`{name}`: expected an object with the names of servers as keys, found {}",
                kind(servers)
            )),
        }
    }
    entries.retain(|(_, entry)| !is_part_of_goose(entry));
    (entries, problems)
}

/// The members of a document that have servers.
fn members<'a>(
    source: Source,
    places: &Places,
    document: &'a Value,
) -> impl Iterator<Item = (String, &'a Value)> {
    let at = |path: &[&str]| {
        let found = path
            .iter()
            .try_fold(document, |value, name| value.get(name))?;
        (!found.is_null()).then(|| (path.join("."), found))
    };
    let standard = || at(&["mcpServers"]);
    // A server of opencode may be called `servers`.
    let nested = || at(&["mcp", "servers"]).filter(|(_, servers)| servers.get("type").is_none());
    let projects = document["projects"].as_object().into_iter().flatten();
    let own: Vec<_> = projects
        .filter(|(key, _)| source == Source::ClaudeCode && places.is_project(key))
        .filter_map(|(key, _)| at(&["projects", key, "mcpServers"]))
        .collect();
    let (first, second) = match source {
        Source::VsCode => (at(&["servers"]), None),
        Source::Codex => (at(&["mcp_servers"]), None),
        Source::Zed => (at(&["context_servers"]), None),
        Source::OpenCode => (nested().or_else(|| at(&["mcp"])), None),
        Source::Goose => (at(&["extensions"]), None),
        Source::File => {
            let others = ["servers", "mcp_servers", "context_servers", "extensions"];
            let others = || others.into_iter().find_map(|name| at(&[name]));
            let others = || nested().or_else(|| at(&["mcp"])).or_else(others);
            (standard().or_else(others), None)
        }
        _ => (standard(), None),
    };
    own.into_iter().chain(first).chain(second)
}

/// What a value is, for errors.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn is_part_of_goose(entry: &Value) -> bool {
    entry["type"]
        .as_str()
        .is_some_and(|kind| PARTS_OF_GOOSE.contains(&kind))
}

/// Reads an entry. The error says what is wrong.
pub(crate) fn read(source: Source, entry: &Value) -> Result<Entry, String> {
    let members = entry.as_object().ok_or("expected an object")?;
    let is_true = |name: &str, value: bool| members.get(name) == Some(&Value::Bool(value));
    let milliseconds = members.get("timeout").filter(|_| source == Source::Gemini);
    Ok(Entry {
        is_disabled: is_true("disabled", true) || is_true("enabled", false),
        startup_timeout: seconds(members.get("startup_timeout_sec"), 1.0),
        timeout: seconds(members.get("tool_timeout_sec"), 1.0)
            .or_else(|| seconds(milliseconds, 0.001)),
        connection: match command(members)? {
            Some(command) => command,
            None => http(source, members)?,
        },
    })
}

fn seconds(value: Option<&Value>, unit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value?.as_f64()? * unit).ok()
}

/// The command: a string, a list that begins with the program, or an object.
fn command(members: &Map<String, Value>) -> Result<Option<Connection>, String> {
    let Some(command) = first(members, &["command", "cmd"]) else {
        return Ok(None);
    };
    let inner = command.as_object().unwrap_or(members);
    let mut words = match command {
        Value::Object(command) => texts(command.get("path"))?,
        command => texts(Some(command))?,
    };
    words.extend(texts(inner.get("args"))?);
    if words.is_empty() {
        return Err("`command` is empty".to_owned());
    }
    Ok(Some(Connection::Command {
        command: words.remove(0),
        args: words,
        env: secrets(first(inner, &["env", "environment", "envs"]))?,
        cwd: first(inner, &["cwd"]).and_then(text),
    }))
}

fn http(source: Source, members: &Map<String, Value>) -> Result<Connection, String> {
    let url = first(members, &["httpUrl", "serverUrl", "url", "uri"]).and_then(text);
    let mut headers = secrets(first(members, &["headers", "http_headers"]))?;
    for (name, variable) in secrets(members.get("env_http_headers"))? {
        headers.push((name, format!("${{env:{}}}", variable.expose()).into()));
    }
    if let Some(variable) = members.get("bearer_token_env_var").and_then(text) {
        let value = format!("Bearer ${{env:{variable}}}");
        headers.push(("Authorization".to_owned(), value.into()));
    }
    Ok(Connection::Http {
        url: url.ok_or("has neither a command nor a URL")?,
        transport: transport(source, members),
        headers,
    })
}

fn transport(source: Source, members: &Map<String, Value>) -> Transport {
    match members.get("type").and_then(Value::as_str) {
        Some("sse") => Transport::Sse,
        Some("http" | "streamable-http" | "streamable_http" | "streamableHttp") => Transport::Http,
        _ if members.contains_key("httpUrl") => Transport::Http,
        _ if source == Source::Gemini => Transport::Sse,
        _ => Transport::Auto,
    }
}

/// The first of several members that has a value.
fn first<'a>(members: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let mut values = names.iter().filter_map(|name| members.get(*name));
    values.find(|value| !value.is_null())
}

/// A scalar as text. People write numbers for environment variables.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A text, or a list of texts.
fn texts(value: Option<&Value>) -> Result<Vec<String>, String> {
    let one = |value: &Value| text(value).ok_or("expected strings in the command");
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.iter().map(one).collect::<Result<_, _>>()?),
        Some(value) => Ok(vec![one(value)?]),
    }
}

/// Names with texts. The values do not get into the error.
fn secrets(value: Option<&Value>) -> Result<Vec<(String, Secret)>, String> {
    let members = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(members)) => members,
        Some(_) => return Err("expected an object of environment variables or headers".to_owned()),
    };
    let set = members.iter().filter(|(_, value)| !value.is_null());
    let secrets = set.map(|(name, value)| {
        let value = text(value).ok_or_else(|| format!("`{name}` must be a string"))?;
        Ok((name.clone(), value.into()))
    });
    secrets.collect()
}
