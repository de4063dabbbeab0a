//! YAML's merge keys: `<<: *name` adds the entries of another map to this one.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::node::{Entry, Node, Value};
use crate::span::{At, Pointer};

/// The entries of a map, with those of its merge key instead of that key.
///
/// As in YAML, entries of the map win over merged ones, and earlier maps of a list win over later
/// ones. Merged entries keep their positions.
pub(super) fn merged(entries: Vec<Entry>, pointer: &Pointer, report: &mut Report) -> Vec<Entry> {
    if !entries.iter().any(|entry| entry.key.is_merge) {
        return entries;
    }
    let own = entries.iter().filter(|entry| !entry.key.is_merge);
    let mut seen: BTreeSet<String> = own.map(|entry| entry.key.text.clone()).collect();
    let mut all = Vec::new();
    for entry in entries {
        if entry.key.is_merge {
            let pointer = pointer.child(&entry.key.text);
            let added = sources(entry.value, &pointer, report).into_iter().flatten();
            all.extend(added.filter(|entry| seen.insert(entry.key.text.clone())));
        } else {
            all.push(entry);
        }
    }
    all
}

/// The entries of each map that a merge key names.
fn sources(value: Node, pointer: &Pointer, report: &mut Report) -> Vec<Vec<Entry>> {
    let maps = match value.value {
        Value::List(items) => items,
        _ => vec![value],
    };
    let entries_of = |map: Node| match map.value {
        Value::Map(entries) => Some(entries),
        other => {
            let at = At {
                span: map.span,
                pointer: pointer.clone(),
            };
            let message = format!("expected a map to merge, found {}", other.kind());
            let problem = report.error(Code::WrongKind, &at, message);
            problem.help("write `<<: *name`, where `&name` marks a map, or a list of such aliases");
            None
        }
    };
    maps.into_iter().filter_map(entries_of).collect()
}
