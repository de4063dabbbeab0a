//! What differs between two catalogs.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use mcp_catalog::{Catalog, Item, ItemKind};
use serde_json::{Value, json};

use crate::terminal::{Style, Visible, one_line};

/// How much of a value a line shows, in characters.
const SHOWN: usize = 120;

/// A difference.
#[derive(Debug, PartialEq)]
pub(super) struct Change {
    /// The kind and the key of the item; none for the server.
    item: Option<(ItemKind, String)>,
    /// A JSON pointer into the item; empty if the whole item was added or removed.
    pointer: String,
    before: Option<Value>,
    after: Option<Value>,
}

/// Everything that differs, in the order of the old catalog; then what is new. Diagnostics and the protocol version do not
/// count.
pub(super) fn between(old: &Catalog, new: &Catalog) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(
        &mut changes,
        None,
        "",
        &json!(old.server),
        &json!(new.server),
    );
    let names = |catalog: &Catalog| catalog.items.iter().map(name).collect::<Vec<_>>();
    let mut seen = BTreeSet::new();
    for name in names(old).into_iter().chain(names(new)) {
        if seen.insert(name.clone()) {
            compare_items(&mut changes, &name, old, new);
        }
    }
    changes
}

type Name = (ItemKind, String);

fn name(item: &Item) -> Name {
    (item.kind(), item.key().to_owned())
}

/// Compares the items of a name. Requests only reach the first of several.
fn compare_items(changes: &mut Vec<Change>, name: &Name, old: &Catalog, new: &Catalog) {
    let find = |catalog: &Catalog| catalog.find(name.0, &name.1).map(members);
    match (find(old), find(new)) {
        (Some(old), Some(new)) => compare(changes, Some(name), "", &old, &new),
        (before, after) => changes.push(Change {
            item: Some(name.clone()),
            pointer: String::new(),
            before,
            after,
        }),
    }
}

/// An item as JSON without its digest, which changes with every other member.
fn members(item: &Item) -> Value {
    let mut members = json!(item);
    if let Some(members) = members.as_object_mut() {
        members.remove("sha256");
    }
    members
}

/// Adds a change for each value that differs.
fn compare(
    changes: &mut Vec<Change>,
    item: Option<&Name>,
    pointer: &str,
    before: &Value,
    after: &Value,
) {
    if before == after {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        changes.push(Change {
            item: item.cloned(),
            pointer: pointer.to_owned(),
            before: Some(before.clone()),
            after: Some(after.clone()),
        });
        return;
    };
    let added = new.keys().filter(|key| !old.contains_key(*key));
    for key in old.keys().chain(added) {
        let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
        match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => compare(changes, item, &pointer, old, new),
            (before, after) => changes.push(Change {
                item: item.cloned(),
                pointer,
                before: before.cloned(),
                after: after.cloned(),
            }),
        }
    }
}

/// Shows changes, each with what was there before and what is there now.
pub(super) fn write<W: Write>(out: &mut Visible<W>, changes: &[Change]) -> io::Result<()> {
    if changes.is_empty() {
        return writeln!(out, "no changes");
    }
    for change in changes {
        let verb = match (&change.before, &change.after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        out.styled(Style::Name, verb)?;
        writeln!(out, " {}", one_line(&change.place()))?;
        if change.pointer.is_empty() && change.item.is_some() {
            continue;
        }
        for (sign, value) in [("-", &change.before), ("+", &change.after)] {
            if let Some(value) = value {
                writeln!(out, "  {sign} {}", one_line(&shortened(value)))?;
            }
        }
    }
    Ok(())
}

/// The changes for programs.
pub(super) fn to_json(changes: &[Change]) -> Value {
    let one = |change: &Change| {
        let mut json = json!({ "pointer": change.pointer });
        if let Some((kind, key)) = &change.item {
            json["type"] = json!(kind);
            json["key"] = key.as_str().into();
        }
        for (name, value) in [("before", &change.before), ("after", &change.after)] {
            if let Some(value) = value {
                json[name] = value.clone();
            }
        }
        json
    };
    changes.iter().map(one).collect()
}

impl Change {
    fn place(&self) -> String {
        match (&self.item, &*self.pointer) {
            (Some((kind, key)), "") => format!("{} `{key}`", kind.label()),
            (Some((kind, key)), at) => format!("{} `{key}` {at}", kind.label()),
            (None, at) => format!("server {at}"),
        }
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
