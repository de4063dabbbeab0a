//! The lists of a server, checked entry by entry.
//!
//! See `docs/decisions/0069-lock-has-the-text.md`.

use std::collections::{BTreeMap, HashSet};

use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{Error, List, Lists, problem_code};
use mcp_servlet_common::shape;
use mcp_servlet_host::{
    FeatureKind, HiddenEntry, Listed, LockedLists, OnChange, RemoteLists, Tool,
};
use mcp_servlet_schema::{Problem, Schemas};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::connection::FIRST_STATELESS;
use crate::failure::is_passing;
use crate::options::{RemoteOptions, ToolTexts};

/// The largest entry of a list, in bytes.
const MAX_ENTRY: usize = 1 << 20;

/// What begins the keys of `_meta` that only this host writes.
const OUR_KEYS: &str = "mcp-servlet/";

/// The key of `_meta` that names a task of the server, which clients do not know.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The lists of a server as it wrote them.
#[derive(Debug)]
pub(crate) struct ReadLists {
    lists: Lists,
    /// Whether no list failed for a passing reason. Otherwise, the lists are read again.
    pub(crate) is_whole: bool,
    /// The lists in which entries may be missing: they failed for a passing reason, and were never read before.
    partial: Vec<List>,
}

impl ReadLists {
    /// Gives lists whose reading failed for a passing reason the entries that they had before.
    pub(crate) fn new(mut lists: Lists, errors: &[(List, Error)], previous: Option<&Self>) -> Self {
        let failed: Vec<List> = errors
            .iter()
            .filter(|(_, error)| is_passing(error))
            .map(|(list, _)| *list)
            .collect();
        let is_whole = failed.is_empty();
        let mut partial = failed;
        if let Some(previous) = previous.filter(|_| !is_whole) {
            let mut known = previous.lists.clone();
            partial.retain(|list| match list.entries(&mut known).take() {
                Some(entries) => {
                    *list.entries(&mut lists) = Some(entries);
                    previous.partial.contains(list)
                }
                None => true,
            });
        }
        Self {
            lists,
            is_whole,
            partial,
        }
    }
}

impl From<Lists> for ReadLists {
    fn from(lists: Lists) -> Self {
        Self::new(lists, &[], None)
    }
}

/// Whether clients see the same.
impl PartialEq for ReadLists {
    fn eq(&self, other: &Self) -> bool {
        let text = |read: &Self| serde_json::to_string(&read.lists).ok();
        self.partial == other.partial && text(self) == text(other)
    }
}

/// The kind of the entries of a list.
fn kind_of(list: List) -> FeatureKind {
    match list {
        List::Tools => FeatureKind::Tool,
        List::Resources => FeatureKind::Resource,
        List::ResourceTemplates => FeatureKind::ResourceTemplate,
        List::Prompts => FeatureKind::Prompt,
    }
}

/// Checks the lists of a server. Entries that clients could not use are left out with a warning.
pub(crate) fn checked(remote: &str, read: &ReadLists, options: &RemoteOptions) -> RemoteLists {
    let raw = &read.lists;
    let texts = &options.tools;
    let mut gate = Gate::new(remote, raw, options.locked.as_deref());
    let capabilities: JsonObject =
        serde_json::from_str(raw.server.capabilities.get()).unwrap_or_default();
    let has = |capability| {
        let found = capabilities.get(capability);
        found.is_some_and(|one: &Value| !one.is_null())
    };
    let mut lists = RemoteLists::default();
    lists.partial = read.partial.iter().copied().map(kind_of).collect();
    log_problems(remote, raw);
    let has_tasks = has_tasks(&raw.protocol, &capabilities);
    let read_tool = |json| {
        let mut tool = tool(with_texts(json, texts))?;
        if has_tasks && requires_task(&tool) {
            tool.set_remote_task();
        }
        if let Some(shape) = texts
            .get(tool.name())
            .and_then(|texts| texts.shape.as_ref())
        {
            tool.set_shape(shape);
        }
        Ok(tool)
    };
    let tools = raw.tools.as_deref();
    lists.tools = entries(&mut gate, FeatureKind::Tool, tools, read_tool, Tool::name);
    warn_about_sections(remote, texts, tools.unwrap_or_default());
    lists.resources = listed(&mut gate, FeatureKind::Resource, raw.resources.as_deref());
    let templates = raw.resource_templates.as_deref();
    lists.resource_templates = listed(&mut gate, FeatureKind::ResourceTemplate, templates);
    lists.prompts = listed(&mut gate, FeatureKind::Prompt, raw.prompts.as_deref());
    lists.protocol.clone_from(&raw.protocol);
    lists.server_info = serde_json::from_str(raw.server.info.get()).ok();
    lists.instructions = gate.instructions(raw);
    let is_known = gate.refused.is_none();
    lists.has_resources = is_known && has("resources");
    lists.has_prompts = is_known && has("prompts");
    lists.completes = is_known && has("completions");
    lists.logs = is_known && has("logging");
    gate.note_missing();
    lists.hidden = gate.hidden;
    lists
}

/// Logs what is wrong with whole lists.
fn log_problems(remote: &str, raw: &Lists) {
    for problem in &raw.problems {
        let (list, reason) = (&*problem.list, &*problem.message);
        match &*problem.code {
            // The client has logged what it mended.
            problem_code::MENDED => {}
            problem_code::BAD_LIST => {
                tracing::warn!(remote, list, reason, "list of a remote cannot be read");
            }
            _ => tracing::warn!(remote, list, reason, "list of a remote may be incomplete"),
        }
    }
}

/// Warns about texts for tools that the server does not list. If it lists one that clients do not get, the log has the reason.
fn warn_about_sections(remote: &str, texts: &BTreeMap<String, ToolTexts>, tools: &[Box<RawValue>]) {
    for tool in texts.keys() {
        let mut names = tools.iter().filter_map(|raw| key(FeatureKind::Tool, raw));
        if !names.any(|name| name == *tool) {
            tracing::warn!(
                remote,
                tool,
                "a section about a tool that the remote does not list"
            );
        }
    }
}

fn listed(gate: &mut Gate<'_>, kind: FeatureKind, raw: Option<&[Box<RawValue>]>) -> Vec<Listed> {
    let read = |json| Listed::new(kind, json);
    entries(gate, kind, raw, read, Listed::key)
}

/// Hides what the operator has not approved.
struct Gate<'a> {
    remote: &'a str,
    locked: Option<&'a LockedLists>,
    /// Why all entries are hidden. None if only those that differ are.
    refused: Option<String>,
    hidden: Vec<HiddenEntry>,
    /// The approved entries that the server lists.
    seen: HashSet<(FeatureKind, String)>,
}

impl<'a> Gate<'a> {
    fn new(remote: &'a str, raw: &Lists, locked: Option<&'a LockedLists>) -> Self {
        if let Some(known) = locked.and_then(|locked| locked.protocol.as_ref())
            && *known != raw.protocol
        {
            let now = &raw.protocol;
            tracing::warn!(
                remote,
                now,
                "protocol version of a remote differs from the one in `servlet.lock`, {known}"
            );
        }
        Self {
            remote,
            locked,
            refused: locked.and_then(|locked| refusal(locked, raw)),
            hidden: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Gives an entry the approved values of ignored members, and returns whether clients may see it.
    fn admits(&mut self, kind: FeatureKind, entry: &mut JsonObject) -> bool {
        let Some(locked) = self.locked else {
            return true;
        };
        let Some((key, checked)) = check_entry(locked, kind, entry) else {
            return true;
        };
        self.seen.insert((kind, key.clone()));
        let reason = match (&self.refused, checked) {
            (None, Ok(())) => return true,
            (None, Err(reason)) if locked.on_change == OnChange::Warn => {
                let remote = self.remote;
                tracing::warn!(remote, %kind, entry = key, reason, "entry of a remote differs from `servlet.lock`");
                return true;
            }
            (None, Err(reason)) => reason,
            (Some(refused), _) => refused.clone(),
        };
        self.hidden.push(HiddenEntry {
            kind,
            key,
            entry: entry.clone(),
            reason,
        });
        false
    }

    /// Logs which approved entry the server no longer lists, and how many more.
    fn note_missing(&self) {
        let remote = self.remote;
        let approved = self.locked.iter().flat_map(|locked| locked.entries.keys());
        let mut missing = approved.filter(|key| !self.seen.contains(*key));
        if let Some((kind, entry)) = missing.next() {
            let more = missing.count();
            tracing::warn!(remote, %kind, entry, more, "the remote does not list everything in `servlet.lock`");
        }
    }

    /// The instructions that clients get: the approved ones, if there is a lock.
    fn instructions(&self, raw: &Lists) -> Option<String> {
        let now = &raw.server.instructions;
        let Some(locked) = self.locked else {
            return now.clone();
        };
        if locked.instructions != *now {
            let remote = self.remote;
            tracing::warn!(
                remote,
                "instructions of a remote have changed; clients get those in `servlet.lock`"
            );
        }
        locked.instructions.clone()
    }
}

/// Why all entries of a remote are hidden. None if they are compared one by one.
fn refusal(locked: &LockedLists, raw: &Lists) -> Option<String> {
    let info: JsonObject = serde_json::from_str(raw.server.info.get()).unwrap_or_default();
    if locked.server.as_deref() != info.get("name").and_then(Value::as_str) {
        return Some("the server has another name".to_owned());
    }
    if locked.on_change != OnChange::Refuse {
        return None;
    }
    let lists = [
        (FeatureKind::Tool, &raw.tools),
        (FeatureKind::Resource, &raw.resources),
        (FeatureKind::ResourceTemplate, &raw.resource_templates),
        (FeatureKind::Prompt, &raw.prompts),
    ];
    lists.into_iter().find_map(|(kind, entries)| {
        entries.iter().flatten().find_map(|raw| {
            let mut entry = object(kind, raw, &mut Vec::new()).ok()?;
            let (key, checked) = check_entry(locked, kind, &mut entry)?;
            let reason = checked.err()?;
            Some(format!("{kind} `{key}`: {reason}"))
        })
    })
}

/// Gives an entry the approved values of ignored members, and compares the rest with the lock. Returns the entry's name or URI and
/// the result; None for an entry without one, which [`entries`] leaves out.
fn check_entry(
    locked: &LockedLists,
    kind: FeatureKind,
    entry: &mut JsonObject,
) -> Option<(String, Result<(), String>)> {
    let key = entry.get(kind.members().1)?.as_str()?.to_owned();
    locked.settle(kind, &key, entry);
    let checked = locked.check_entry(kind, &key, entry);
    Some((key, checked))
}

/// The good entries, each key once.
fn entries<T>(
    gate: &mut Gate<'_>,
    kind: FeatureKind,
    raw: Option<&[Box<RawValue>]>,
    read: impl Fn(JsonObject) -> Result<T, Problem>,
    key: fn(&T) -> &str,
) -> Vec<T> {
    let mut seen = HashSet::new();
    let mut good = Vec::new();
    for (at, raw) in raw.unwrap_or_default().iter().enumerate() {
        let mut dropped = Vec::new();
        let mut object = object(kind, raw, &mut dropped);
        if let Ok(entry) = &mut object
            && !gate.admits(kind, entry)
        {
            continue;
        }
        let entry = object.and_then(&read).and_then(|entry| {
            if seen.insert(key(&entry).to_owned()) {
                return Ok(entry);
            }
            Err(Problem::new(
                "",
                "an earlier entry has the same name or URI",
            ))
        });
        match entry {
            Ok(entry) => {
                if !dropped.is_empty() {
                    let (remote, entry, members) = (gate.remote, key(&entry), dropped.join(", "));
                    tracing::warn!(remote, %kind, entry, members, "members of an entry of a remote left out, because they have another type than in MCP");
                }
                good.push(entry);
            }
            Err(reason) => {
                let entry = name(kind, raw).unwrap_or_else(|| format!("number {}", at + 1));
                let remote = gate.remote;
                tracing::warn!(remote, %kind, entry, %reason, "entry of a remote left out");
            }
        }
    }
    good
}

/// Drops the optional members of an entry that strict clients would refuse, together with the whole list.
fn drop_wrong(
    kind: FeatureKind,
    json: &mut JsonObject,
    dropped: &mut Vec<String>,
) -> Result<(), Problem> {
    let shape = match kind {
        FeatureKind::Tool => &shape::TOOL,
        FeatureKind::Resource | FeatureKind::ResourceTemplate => &shape::RESOURCE,
        FeatureKind::Prompt => &shape::PROMPT,
    };
    let wrong = shape.drop_wrong(json, dropped);
    wrong.map_err(|wrong| Problem::new(wrong.at, "it is missing or has another type than in MCP"))
}

/// The members of an entry, if the required ones are right. Drops optional ones with wrong types, and adds their JSON pointers to
/// `dropped`.
fn object(
    kind: FeatureKind,
    raw: &RawValue,
    dropped: &mut Vec<String>,
) -> Result<JsonObject, Problem> {
    if raw.get().len() > MAX_ENTRY {
        let problem = format!("it is larger than {MAX_ENTRY} bytes");
        return Err(Problem::new("", problem));
    }
    let value: Value = serde_json::from_str(raw.get()).map_err(|error| Problem::syntax(&error))?;
    let Value::Object(mut json) = value else {
        return Err(Problem::expected("", "an object", Some(&value)));
    };
    let key = kind.members().1;
    match json.get(key) {
        Some(Value::String(text)) if text.trim().is_empty() => {
            return Err(Problem::new(format!("/{key}"), "it is empty"));
        }
        Some(Value::String(text)) if text.chars().any(char::is_control) => {
            return Err(Problem::new(
                format!("/{key}"),
                "it has a control character",
            ));
        }
        _ => {}
    }
    drop_wrong(kind, &mut json, dropped)?;
    drop_our_keys(&mut json);
    Ok(json)
}

/// A tool with the texts of the host.
fn with_texts(mut json: JsonObject, texts: &BTreeMap<String, ToolTexts>) -> JsonObject {
    let name = json.get("name").and_then(Value::as_str);
    let Some(texts) = name.and_then(|name| texts.get(name)) else {
        return json;
    };
    for (key, text) in [("title", &texts.title), ("description", &texts.description)] {
        if let Some(text) = text {
            json.insert(key.to_owned(), text.as_str().into());
        }
    }
    if !texts.annotations.is_empty() {
        let annotations = json.entry("annotations").or_insert_with(|| json!({}));
        if !annotations.is_object() {
            *annotations = json!({});
        }
        let members = annotations.as_object_mut().expect("it is an object");
        members.extend(texts.annotations.clone());
    }
    json
}

/// Whether a server runs tools as tasks of MCP 2025-11-25. Later versions have tasks that the server decides on.
fn has_tasks(protocol: &str, capabilities: &JsonObject) -> bool {
    let call = capabilities
        .get("tasks")
        .and_then(|tasks| tasks.pointer("/requests/tools/call"));
    protocol < FIRST_STATELESS && call.is_some_and(|call| !call.is_null())
}

fn requires_task(tool: &Tool) -> bool {
    let execution = tool.json().get("execution");
    execution.is_some_and(|execution| execution["taskSupport"] == "required")
}

fn tool(json: JsonObject) -> Result<Tool, Problem> {
    let tool = Tool::new(json)?;
    tool.check_input_type()?;
    Schemas::of(tool.json())?;
    Ok(tool)
}

/// Drops the keys of `_meta` that only this host writes or knows.
pub(crate) fn drop_our_keys(json: &mut JsonObject) {
    if let Some(Value::Object(meta)) = json.get_mut("_meta") {
        meta.retain(|key, _| !key.starts_with(OUR_KEYS) && key != RELATED_TASK);
    }
}

/// What identifies an entry, for the log.
fn name(kind: FeatureKind, raw: &RawValue) -> Option<String> {
    const MAX_NAME: usize = 100;
    let key = key(kind, raw)?;
    let name = key.trim();
    (!name.is_empty()).then(|| name.chars().take(MAX_NAME).collect())
}

/// The name or the URI of an entry.
fn key(kind: FeatureKind, raw: &RawValue) -> Option<String> {
    let json: JsonObject = serde_json::from_str(raw.get()).ok()?;
    Some(json.get(kind.members().1)?.as_str()?.to_owned())
}
