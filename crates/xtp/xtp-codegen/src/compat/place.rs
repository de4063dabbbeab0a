//! Finds the positions of the library's paths.

use crate::node::{Entry, Node, Value};
use crate::span::{At, Pointer};

/// The position of a path, or of the last node on it that exists. Keys with a `/` make paths
/// ambiguous; the longest key wins.
pub(super) fn find(root: &Node, path: &str) -> At {
    let mut rest = path.strip_prefix("#/").unwrap_or_default();
    let mut node = root;
    let mut at = At {
        span: root.span,
        pointer: Pointer::root(),
    };
    while let Some(entry) = next(node, rest) {
        let key = entry.key.text.as_str();
        at.pointer = at.pointer.child(key);
        at.span = entry.key.span;
        node = &entry.value;
        rest = rest[key.len()..].trim_start_matches('/');
    }
    at
}

fn next<'a>(node: &'a Node, rest: &str) -> Option<&'a Entry> {
    let Value::Map(entries) = &node.value else {
        return None;
    };
    let leads = |entry: &&Entry| {
        let behind = rest.strip_prefix(entry.key.text.as_str());
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('/'))
    };
    let found = entries.iter().filter(|entry| !entry.key.text.is_empty());
    found.filter(leads).max_by_key(|entry| entry.key.text.len())
}
