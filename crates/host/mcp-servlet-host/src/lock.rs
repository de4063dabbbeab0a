//! Locks: what the operator has approved of a member.

use std::{
    collections::{BTreeMap, HashSet},
    mem,
    sync::Arc,
};

use mcp_servlet_call::JsonObject;
use mcp_servlet_common::unescape_pointer;
use serde::Deserialize;
use serde_json::Value;

use crate::{FeatureKind, Listed, LoadError, Servlet, Tool, contract::difference};

/// What the operator has approved of a servlet.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ServletLock {
    /// Whatever it is: there is no lock.
    #[default]
    Off,
    /// Nothing: the lock does not have the servlet.
    Missing,
    /// This module, with these lists.
    Is {
        /// The SHA-256 digest of the module.
        module: [u8; 32],
        /// Its lists.
        lists: Arc<LockedLists>,
    },
}

/// What the operator has approved of the lists of a member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockedLists {
    /// The name in the `serverInfo` of MCP.
    pub server: Option<String>,
    /// Instructions for a model.
    pub instructions: Option<String>,
    /// The protocol version of a remote.
    pub protocol: Option<String>,
    /// The entries, as the member wrote them, by their kinds and by their names or URIs.
    pub entries: BTreeMap<(FeatureKind, String), JsonObject>,
    /// JSON pointers to the members of entries that may change. Their approved values are served.
    pub ignored: Vec<String>,
    /// How to treat entries of a remote that differ from the lock.
    pub on_change: OnChange,
}

/// How a host treats entries of a remote that differ from the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnChange {
    /// Hides these entries.
    #[default]
    Hide,
    /// Hides everything of the remote.
    Refuse,
    /// Serves them, with a warning.
    Warn,
}

impl LockedLists {
    /// Whether this entry is the approved one.
    ///
    /// # Errors
    /// How it differs.
    pub fn check_entry(
        &self,
        kind: FeatureKind,
        key: &str,
        entry: &JsonObject,
    ) -> Result<(), String> {
        let Some(locked) = self.entries.get(&(kind, key.to_owned())) else {
            return Err("it is new".to_owned());
        };
        if locked == entry {
            return Ok(());
        }
        match difference("", &locked.clone().into(), &entry.clone().into()) {
            None => Ok(()),
            Some((pointer, _)) => Err(format!("{pointer} has changed")),
        }
    }

    /// Replaces the members at [`ignored`](Self::ignored) with their approved values. An entry that only writes sets in another
    /// order, such as the required properties of a schema, gets the approved text.
    pub fn settle(&self, kind: FeatureKind, key: &str, entry: &mut JsonObject) {
        let Some(approved) = self.entries.get(&(kind, key.to_owned())) else {
            return;
        };
        if !self.ignored.is_empty() {
            let locked = Value::from(approved.clone());
            let mut settled = Value::from(mem::take(entry));
            for pointer in &self.ignored {
                let value = locked.pointer(pointer).cloned();
                settle_at(pointer, value, &locked, &mut settled);
            }
            if let Value::Object(settled) = settled {
                *entry = settled;
            }
        }
        if *entry != *approved && with_sorted_sets(entry) == with_sorted_sets(approved) {
            entry.clone_from(approved);
        }
    }

    /// Whether the lists of a servlet are exactly the approved ones.
    fn check_all(&self, servlet: &Servlet) -> Result<(), String> {
        for (kind, key, entry) in servlet.entries() {
            let checked = self.check_entry(kind, key, entry);
            checked.map_err(|problem| format!("{kind} `{key}`: {problem}"))?;
        }
        let listed: HashSet<_> = servlet
            .entries()
            .map(|(kind, key, _)| (kind, key))
            .collect();
        let mut locked = self.entries.keys();
        if let Some((kind, key)) = locked.find(|(kind, key)| !listed.contains(&(*kind, &**key))) {
            return Err(format!("{kind} `{key}`: it is no longer there"));
        }
        if self.instructions.as_deref() != servlet.instructions() {
            return Err("its instructions have changed".to_owned());
        }
        Ok(())
    }
}

/// An entry whose schemas have their sets in one order.
fn with_sorted_sets(entry: &JsonObject) -> JsonObject {
    let mut entry = entry.clone();
    for key in ["inputSchema", "outputSchema"] {
        if let Some(schema) = entry.get_mut(key) {
            sort_sets(schema);
        }
    }
    entry
}

/// Sorts the names in `required`, `type` and `dependentRequired`, at every depth.
fn sort_sets(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "required" | "type" => sort_names(value),
                    "dependentRequired" => {
                        let lists = value.as_object_mut().into_iter();
                        lists.flat_map(JsonObject::values_mut).for_each(sort_names);
                    }
                    _ => {}
                }
                sort_sets(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort_sets),
        _ => {}
    }
}

fn sort_names(names: &mut Value) {
    if let Value::Array(names) = names
        && names.iter().all(Value::is_string)
    {
        names.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}

/// Sets or removes the value at a JSON pointer in `entry`. Adds missing objects around it if `locked` has them, and removes objects
/// that become empty if it does not. Never adds or removes items of lists.
fn settle_at(pointer: &str, value: Option<Value>, locked: &Value, entry: &mut Value) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return;
    };
    if let (Some(value), Some(place)) = (&value, entry.pointer_mut(pointer)) {
        place.clone_from(value);
        return;
    }
    let name = unescape_pointer(name);
    match (value, entry.pointer_mut(parent)) {
        (Some(value), Some(Value::Object(members))) => drop(members.insert(name, value)),
        (Some(value), None) if locked.pointer(parent).is_some_and(Value::is_object) => {
            let members = JsonObject::from_iter([(name, value)]);
            settle_at(parent, Some(members.into()), locked, entry);
        }
        (None, Some(Value::Object(members))) => {
            members.remove(&name);
            if members.is_empty() && locked.pointer(parent).is_none() {
                settle_at(parent, None, locked, entry);
            }
        }
        _ => {}
    }
}

impl ServletLock {
    /// Whether a module may be loaded.
    pub(crate) fn check_module(&self, servlet: &str, digest: [u8; 32]) -> Result<(), LoadError> {
        match self {
            Self::Off => Ok(()),
            Self::Missing => Err(LoadError::NotLocked {
                servlet: servlet.to_owned(),
            }),
            Self::Is { module, .. } if *module == digest => Ok(()),
            Self::Is { .. } => Err(LoadError::Locked {
                servlet: servlet.to_owned(),
                problem: "the module has changed".to_owned(),
            }),
        }
    }

    /// Whether the lists of a servlet may be served.
    pub(crate) fn check_lists(&self, servlet: &Servlet) -> Result<(), LoadError> {
        let Self::Is { lists, .. } = self else {
            return Ok(());
        };
        lists
            .check_all(servlet)
            .map_err(|problem| LoadError::Locked {
                servlet: servlet.name().to_owned(),
                problem,
            })
    }
}

impl Servlet {
    /// Everything that it lists, with its kind, and its name or URI, except for resources that its functions list: these change
    /// while it runs, and only their templates are approved.
    pub fn entries(&self) -> impl Iterator<Item = (FeatureKind, &str, &JsonObject)> {
        entries(
            self.tools(),
            [
                self.fixed_resources(),
                self.resource_templates(),
                self.prompts(),
            ],
        )
    }
}

/// Everything that a member lists: its tools, and its resources, resource templates and prompts.
pub(crate) fn entries<'m>(
    tools: &'m [Tool],
    [resources, templates, prompts]: [&'m [Listed]; 3],
) -> impl Iterator<Item = (FeatureKind, &'m str, &'m JsonObject)> {
    let tools = tools
        .iter()
        .map(|tool| (FeatureKind::Tool, tool.name(), tool.json()));
    let listed = [
        (FeatureKind::Resource, resources),
        (FeatureKind::ResourceTemplate, templates),
        (FeatureKind::Prompt, prompts),
    ]
    .into_iter()
    .flat_map(|(kind, entries)| {
        entries
            .iter()
            .map(move |entry| (kind, entry.key(), entry.json()))
    });
    tools.chain(listed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ignored_members_get_the_approved_values() {
        let object = |json: Value| json.as_object().expect("an object").clone();
        let locked = json!({ "name": "t", "description": "Monday", "_meta": { "a/b": 1 } });
        let key = (FeatureKind::Tool, "t".to_owned());
        let lists = LockedLists {
            entries: BTreeMap::from([(key, object(locked.clone()))]),
            ignored: ["/description", "/_meta/a~1b", "/_meta/new", "/no/where"]
                .map(str::to_owned)
                .to_vec(),
            ..LockedLists::default()
        };
        let settled = |entry: Value| {
            let mut entry = object(entry);
            lists.settle(FeatureKind::Tool, "t", &mut entry);
            Value::from(entry)
        };
        let tuesday =
            json!({ "name": "t", "description": "Tuesday", "_meta": { "a/b": 2, "new": 3 } });
        assert_eq!(settled(tuesday), locked);
        assert_eq!(settled(json!({ "name": "t", "_meta": {} })), locked);
        let other = json!({ "name": "t", "description": "Monday", "title": "T", "_meta": 3 });
        assert_eq!(settled(other.clone()), other);
    }

    #[test]
    fn the_order_of_sets_does_not_count() {
        let object = |json: Value| json.as_object().expect("an object").clone();
        let tool = |required: Value, kinds: Value, choices: Value| {
            let one = json!({ "type": kinds, "enum": choices });
            let schema = json!({ "properties": { "required": one }, "required": required });
            object(json!({ "name": "t", "inputSchema": schema }))
        };
        let locked = tool(json!(["a", "b"]), json!(["null", "string"]), json!([1, 2]));
        let lists = LockedLists {
            entries: BTreeMap::from([((FeatureKind::Tool, "t".to_owned()), locked.clone())]),
            ..LockedLists::default()
        };
        let settled = |mut entry: JsonObject| {
            lists.settle(FeatureKind::Tool, "t", &mut entry);
            let checked = lists.check_entry(FeatureKind::Tool, "t", &entry);
            (entry, checked.is_ok())
        };
        let reordered = tool(json!(["b", "a"]), json!(["string", "null"]), json!([1, 2]));
        assert_eq!(settled(reordered), (locked, true));
        for other in [
            tool(json!(["b"]), json!(["null", "string"]), json!([1, 2])),
            tool(json!(["a", "b"]), json!(["null", "string"]), json!([2, 1])),
        ] {
            assert_eq!(settled(other.clone()), (other, false));
        }
    }

    #[test]
    fn ignored_members_may_be_in_lists_or_alone_in_their_object() {
        let object = |json: Value| json.as_object().expect("an object").clone();
        let settled = |pointer: &str, locked: Value, entry: Value| {
            let key = (FeatureKind::Tool, "t".to_owned());
            let lists = LockedLists {
                entries: BTreeMap::from([(key, object(locked))]),
                ignored: vec![pointer.to_owned()],
                ..LockedLists::default()
            };
            let mut entry = object(entry);
            lists.settle(FeatureKind::Tool, "t", &mut entry);
            Value::from(entry)
        };
        let icons = |first: &str| json!({ "icons": [{ "src": first }, { "src": "b" }] });
        let src = "/icons/0/src";
        assert_eq!(settled(src, icons("a"), icons("z")), icons("a"));
        let none = json!({ "icons": [] });
        assert_eq!(settled("/icons/0", none.clone(), icons("z")), icons("z"));
        assert_eq!(settled(src, icons("a"), none.clone()), none);
        let (date, bare) = (json!({ "_meta": { "on": { "date": 1 } } }), json!({}));
        let pointer = "/_meta/on/date";
        assert_eq!(settled(pointer, bare.clone(), date.clone()), bare);
        assert_eq!(settled(pointer, date.clone(), bare.clone()), date);
        let empty = json!({ "_meta": {} });
        assert_eq!(settled(pointer, empty.clone(), date), empty);
        let other = json!({ "_meta": { "other": 1 } });
        assert_eq!(settled(pointer, other, bare.clone()), bare);
    }
}
