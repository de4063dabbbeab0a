//! Adds servers to the files of clients and removes them. The rest of a file does not change. Only the object that gets a member may
//! lose blank lines at its start and end, and gets several lines if it has one.

use std::fmt;

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use crate::{
    document::{self, Position, Problem},
    inputs,
    source::{Format, Source},
};

/// A byte order mark in UTF-8. Programs on Windows write it, and expect it to stay.
const MARK: &str = "\u{feff}";

/// The members of an entry that say how to connect. A new entry replaces all of them.
const CONNECTION: [&str; 10] = [
    "type",
    "command",
    "args",
    "cwd",
    "url",
    "httpUrl",
    "serverUrl",
    "headers",
    "http_headers",
    "env_vars",
];

/// Environment variables, by client. Their values in a file are those of the user.
const VARIABLES: [&str; 2] = ["env", "environment"];

/// The file of a client, to be changed.
///
/// ```
/// use mcp_client_config::{ClientFile, Connection, Source};
///
/// let text = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
/// let mut file = ClientFile::parse(Source::ClaudeCode, text.as_bytes())?;
/// let demo = Connection::Command {
///     command: "demo".to_owned(),
///     args: vec!["serve".to_owned()],
///     env: Vec::new(),
///     cwd: None,
/// };
/// let entry = Source::ClaudeCode.entry(&demo).expect("a command");
/// file.set("demo", &entry)?;
/// assert!(file.to_string().starts_with("{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n"));
/// assert!(file.remove("demo")?);
/// # Ok::<(), mcp_client_config::EditError>(())
/// ```
#[derive(Debug)]
pub struct ClientFile {
    servers: &'static [&'static str],
    /// Whether the file lists, under `inputs`, the values that the client asks for.
    has_inputs: bool,
    has_mark: bool,
    has_crlf: bool,
    tree: Tree,
}

#[derive(Debug)]
enum Tree {
    Json(CstRootNode),
    Toml(Box<DocumentMut>),
}

/// A file that cannot be changed. The message does not quote the file, which may have secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", position.map(|at| format!("{at}: ")).unwrap_or_default())]
pub struct EditError {
    /// The place in the file, if it is known.
    pub position: Option<Position>,
    /// What is wrong.
    pub problem: String,
}

impl From<Problem> for EditError {
    fn from(Problem { position, text }: Problem) -> Self {
        Self {
            position,
            problem: text,
        }
    }
}

impl ClientFile {
    /// Reads the bytes of a file of this client. No bytes are a file without servers.
    ///
    /// # Errors
    /// If servers cannot be added to the client's files ([`Source::can_be_edited`]), or the bytes are not in its format or not UTF-8.
    pub fn parse(source: Source, bytes: &[u8]) -> Result<Self, EditError> {
        let Some((format, servers)) = source.format() else {
            let text = format!(
                "the files of {} are not changed by this program",
                source.name()
            );
            return Err(Problem::from(text).into());
        };
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Problem::from("the file is not UTF-8; save it as UTF-8".to_owned()))?;
        let unmarked = text.strip_prefix(MARK);
        let has_mark = unmarked.is_some();
        let text = unmarked.unwrap_or(text);
        let tree = match format {
            Format::Json => Tree::Json(document::json_tree(text)?),
            Format::Toml => Tree::Toml(Box::new(document::toml_tree(text)?)),
        };
        let mut file = Self {
            servers,
            has_inputs: source == Source::VsCode,
            has_mark,
            has_crlf: text.contains('\n')
                && text.matches('\n').count() == text.matches("\r\n").count(),
            tree,
        };
        // A server of opencode may be called `servers`.
        if source == Source::OpenCode && file.is_nested() {
            file.servers = &["mcp", "servers"];
        }
        Ok(file)
    }

    fn is_nested(&self) -> bool {
        let Tree::Json(root) = &self.tree else {
            return false;
        };
        let servers = json_servers(root, &["mcp", "servers"]);
        servers.is_some_and(|servers| servers.get("type").is_none())
    }

    /// The entry of a server.
    pub fn server(&self, name: &str) -> Option<Value> {
        match &self.tree {
            Tree::Json(root) => {
                let servers = json_servers(root, self.servers)?;
                servers.get(name)?.value()?.to_serde_value()
            }
            Tree::Toml(document) => {
                let document = document::parse_toml(&document.to_string()).ok()?;
                let mut parts = self.servers.iter();
                let servers = parts.try_fold(&document, |value, part| value.get(part))?;
                servers.get(name).cloned()
            }
        }
    }

    /// Adds a server, or changes how to connect to the one with this name. An existing entry keeps the values of its
    /// environment variables, and what the client stores in it.
    ///
    /// # Errors
    /// If the member for servers, or the file itself, is not an object.
    pub fn set(&mut self, name: &str, entry: &Map<String, Value>) -> Result<(), EditError> {
        let old = self.server(name);
        let entry = merged(old.as_ref(), entry);
        match &mut self.tree {
            Tree::Json(root) => {
                check_names(root, self.servers, name)?;
                let root = root
                    .object_value_or_create()
                    .ok_or_else(|| not_an_object("the file"))?;
                let mut parts = self.servers.iter();
                let servers = parts.try_fold(root.clone(), |object, part| {
                    let part_of = object.object_value_or_create(part);
                    part_of.ok_or_else(|| not_an_object(&format!("`{part}`")))
                })?;
                let entry = entry.into();
                put_json(&servers, name, &entry);
                if self.has_inputs && !inputs::add(&root, &entry) {
                    return Err(Problem::from("`inputs` is not a list".to_owned()).into());
                }
            }
            Tree::Toml(document) => {
                let servers = toml_servers(document, self.servers)?;
                match (servers.get_mut(name).and_then(Item::as_table_like_mut), old) {
                    (Some(existing), Some(Value::Object(old))) => {
                        update_toml(existing, &old, &entry);
                    }
                    _ => drop(servers.insert(name, Item::Table(to_table(&entry)))),
                }
            }
        }
        Ok(())
    }

    /// Removes a server. Returns whether there was one.
    ///
    /// # Errors
    /// If the member for servers, or the file itself, is not an object.
    pub fn remove(&mut self, name: &str) -> Result<bool, EditError> {
        let old = self.server(name).unwrap_or_default();
        match &mut self.tree {
            Tree::Json(root) => {
                check_names(root, self.servers, name)?;
                let servers = json_servers(root, self.servers);
                let entry = servers.and_then(|servers| servers.get(name));
                let is_there = entry.is_some();
                entry.into_iter().for_each(CstObjectProp::remove);
                if let Some(file) = root.object_value().filter(|_| self.has_inputs) {
                    let others =
                        json_servers(root, self.servers).and_then(|others| others.to_serde_value());
                    inputs::remove(&file, &old, &others.unwrap_or_default());
                }
                Ok(is_there)
            }
            Tree::Toml(document) => {
                let servers = toml_servers(document, self.servers)?;
                Ok(servers.remove(name).is_some())
            }
        }
    }
}

/// The whole file.
impl fmt::Display for ClientFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_mark {
            out.write_str(MARK)?;
        }
        let text = match &self.tree {
            Tree::Json(root) => root.to_string(),
            Tree::Toml(document) => document.to_string(),
        };
        if self.has_crlf {
            let lines = text.replace("\r\n", "\n").replace('\n', "\r\n");
            return out.write_str(&lines);
        }
        out.write_str(&text)
    }
}

fn not_an_object(what: &str) -> EditError {
    Problem::from(format!("{what} is not an object")).into()
}

/// The new entry with what it keeps of the old one.
fn merged(old: Option<&Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let Some(mut merged) = old.and_then(Value::as_object).cloned() else {
        return new.clone();
    };
    merged.retain(|member, _| !CONNECTION.contains(&&**member) || new.contains_key(member));
    for (member, value) in new {
        match (merged.get_mut(member), value) {
            (Some(Value::Object(kept)), Value::Object(added)) if VARIABLES.contains(&&**member) => {
                for (name, value) in added {
                    kept.entry(name).or_insert_with(|| value.clone());
                }
            }
            // The user may have left some out.
            (Some(_), _) if member == "tools" => {}
            _ => drop(merged.insert(member.clone(), value.clone())),
        }
    }
    merged
}

/// Refuses a file in which a member on the path to the server occurs twice: programs do not agree on which one counts.
fn check_names(root: &CstRootNode, path: &[&str], name: &str) -> Result<(), EditError> {
    let mut object = root.object_value();
    for part in path.iter().chain([&name]) {
        let Some(members) = &object else {
            return Ok(());
        };
        let properties = members.properties();
        let names = properties.iter().filter_map(CstObjectProp::decoded_name);
        if names.filter(|name| name == part).count() > 1 {
            return Err(Problem::from(format!("`{part}` occurs twice")).into());
        }
        object = members.object_value(part);
    }
    Ok(())
}

fn json_servers(root: &CstRootNode, path: &[&str]) -> Option<CstObject> {
    let mut parts = path.iter();
    parts.try_fold(root.object_value()?, |object, part| {
        object.object_value(part)
    })
}

/// Changes only what is different, so that comments stay.
fn put_json(object: &CstObject, name: &str, value: &Value) {
    let existing = object.get(name);
    let existing_object = existing.as_ref().and_then(CstObjectProp::object_value);
    match (existing, existing_object, value) {
        (_, Some(existing), Value::Object(members)) => {
            for member in existing.properties() {
                let name = member.decoded_name();
                if name.is_none_or(|name| !members.contains_key(&name)) {
                    member.remove();
                }
            }
            for (name, value) in members {
                put_json(&existing, name, value);
            }
        }
        (Some(existing), ..) => {
            let is_same = existing
                .value()
                .and_then(|value| value.to_serde_value())
                .as_ref()
                == Some(value);
            if !is_same {
                existing.set_value(to_json(value));
            }
        }
        (None, ..) => drop(object.append(name, to_json(value))),
    }
}

pub(crate) fn to_json(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(to_json).collect()),
        Value::Object(members) => {
            let members = members.iter();
            CstInputValue::Object(
                members
                    .map(|(name, value)| (name.clone(), to_json(value)))
                    .collect(),
            )
        }
    }
}

fn toml_servers<'a>(
    document: &'a mut DocumentMut,
    path: &[&str],
) -> Result<&'a mut dyn TableLike, EditError> {
    let mut parts = path.iter();
    let root: &mut dyn TableLike = document.as_table_mut();
    parts.try_fold(root, |table, part| {
        let mut without_header = Table::new();
        without_header.set_implicit(true);
        let item = table.entry(part).or_insert(Item::Table(without_header));
        item.as_table_like_mut()
            .ok_or_else(|| not_an_object(&format!("`{part}`")))
    })
}

/// Changes only what is different, so that comments stay.
fn update_toml(table: &mut dyn TableLike, old: &Map<String, Value>, new: &Map<String, Value>) {
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        table.remove(name);
    }
    for (name, value) in new {
        let existing = table.get_mut(name).and_then(Item::as_table_like_mut);
        match (existing, old.get(name), value) {
            (_, Some(old), new) if old == new => {}
            (Some(existing), Some(Value::Object(old)), Value::Object(new)) => {
                update_toml(existing, old, new);
            }
            _ => drop(table.insert(name, Item::Value(to_toml(value)))),
        }
    }
}

fn to_table(members: &Map<String, Value>) -> Table {
    let members = members.iter().map(|(name, value)| (name, to_toml(value)));
    members.collect()
}

/// TOML has no null; entries have none either.
fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => String::new().into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => items.iter().map(to_toml).collect::<Array>().into(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name, to_toml(value)));
            members.collect::<InlineTable>().into()
        }
    }
}
