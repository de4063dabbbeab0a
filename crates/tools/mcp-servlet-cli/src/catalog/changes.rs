//! What differs between two catalogs.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use mcp_catalog::{Catalog, Item, ItemKind};
use mcp_servlet_schema::escape_pointer;
use serde_json::{Value, json};

use super::impact::Impact;
use crate::terminal::{Style, Visible, one_line};

/// How much of a value a line shows, in characters.
const MAX_SHOWN_CHARS: usize = 120;

/// A difference.
#[derive(Debug, PartialEq)]
pub(crate) struct Change {
    /// The item; none for the server.
    item: Option<ItemPlace>,
    /// A JSON pointer into the item; empty if the whole item was added or removed.
    pointer: String,
    pub(crate) before: Option<Value>,
    pub(crate) after: Option<Value>,
}

/// The kind and the key of an item, and how many earlier items have the same ones.
type ItemPlace = (ItemKind, String, usize);

/// The pointer of a change in a part of an entry that the catalog leaves out.
const DIGEST: &str = "/sha256";

/// Everything that differs, in the order of the old catalog; then what is new. Diagnostics, the protocol version and the order
/// of items do not count.
pub(crate) fn between(old: &Catalog, new: &Catalog) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(
        &mut changes,
        None,
        "",
        &json!(old.server),
        &json!(new.server),
    );
    let (old, new) = (places(old), places(new));
    let known: BTreeSet<_> = old.iter().map(|(place, _)| place).collect();
    let added = new.iter().filter(|(place, _)| !known.contains(place));
    let old_items: BTreeMap<_, _> = old.iter().cloned().collect();
    let new_items: BTreeMap<_, _> = new.iter().cloned().collect();
    for (place, _) in old.iter().chain(added) {
        let item = |items: &BTreeMap<_, _>| items.get(place).copied();
        compare_items(&mut changes, place, item(&old_items), item(&new_items));
    }
    changes
}

/// The items with their places.
fn places(catalog: &Catalog) -> Vec<(ItemPlace, &Item)> {
    let mut counts = BTreeMap::new();
    let places = catalog.items.iter().map(|item| {
        let (kind, key) = (item.kind(), item.key());
        let count = counts.entry((kind, key)).or_insert(0);
        *count += 1;
        ((kind, key.to_owned(), *count - 1), item)
    });
    places.collect()
}

fn compare_items(
    changes: &mut Vec<Change>,
    place: &ItemPlace,
    old: Option<&Item>,
    new: Option<&Item>,
) {
    let (Some(before), Some(after)) = (old, new) else {
        changes.push(Change {
            item: Some(place.clone()),
            pointer: String::new(),
            before: old.map(members),
            after: new.map(members),
        });
        return;
    };
    let count = changes.len();
    compare(changes, Some(place), "", &members(before), &members(after));
    if changes.len() == count && before.sha256 != after.sha256 {
        changes.push(Change {
            item: Some(place.clone()),
            pointer: DIGEST.to_owned(),
            before: Some(before.sha256.as_str().into()),
            after: Some(after.sha256.as_str().into()),
        });
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
    item: Option<&ItemPlace>,
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
        let pointer = format!("{pointer}/{}", escape_pointer(key));
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
        write!(out, " {}", one_line(&change.place()))?;
        if change.impact() == Impact::Breaking {
            write!(out, " ")?;
            out.styled(Style::Problem, "(breaking)")?;
        }
        writeln!(out)?;
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
        let mut json = json!({ "pointer": change.pointer, "impact": change.impact().code() });
        if let Some((kind, key, earlier)) = &change.item {
            json["type"] = json!(kind);
            json["key"] = key.as_str().into();
            if *earlier > 0 {
                json["number"] = (earlier + 1).into();
            }
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
    /// What the difference means for clients.
    pub(crate) fn impact(&self) -> Impact {
        let kind = self.item.as_ref().map(|(kind, ..)| *kind);
        Impact::of(
            kind,
            &self.pointer,
            self.before.as_ref(),
            self.after.as_ref(),
        )
    }

    /// Where it is, such as `` tool `search` /description``.
    pub(crate) fn place(&self) -> String {
        let Some((kind, key, earlier)) = &self.item else {
            return format!("server {}", self.pointer);
        };
        let number = match earlier {
            0 => String::new(),
            earlier => format!(" (number {} of this name)", earlier + 1),
        };
        let item = format!("{} `{key}`{number}", kind.label());
        match &*self.pointer {
            "" => item,
            DIGEST => format!(
                "{item} in a part that catalogs leave out, such as `null` or a member that occurs twice"
            ),
            at => format!("{item} {at}"),
        }
    }
}

/// The text of a value, cut after a line.
pub(crate) fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
