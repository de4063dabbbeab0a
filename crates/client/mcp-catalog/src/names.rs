//! Names that are too long, have strange characters, or are taken.

use std::collections::HashMap;

use crate::{
    catalog::Item,
    diagnostic::{Diagnostic, ItemKind, Severity, code},
};

/// The most characters that MCP allows in the name of a tool.
const MAX_NAME_CHARS: usize = 128;

/// The first item of each key, to find the items that come later.
#[derive(Default)]
struct Seen<'a> {
    exact: HashMap<(ItemKind, &'a str), usize>,
    folded: HashMap<(ItemKind, String), &'a str>,
}

/// Finds problems with names, URIs and URI templates. Empty ones are reported when they are read.
pub(crate) fn check_names(items: &[Item]) -> Vec<Diagnostic> {
    let mut seen = Seen::default();
    let items = items.iter().enumerate();
    let problems = items
        .filter(|(_, item)| !item.key().is_empty())
        .flat_map(|(index, item)| {
            let pointer = item.kind().key_pointer();
            seen.taken(index, item)
                .into_iter()
                .chain(bad_name(item))
                .map(move |(code, severity, problem)| {
                    Diagnostic::new(code, severity, pointer, problem).of_item(item.to_key(index))
                })
                .collect::<Vec<_>>()
        });
    problems.collect()
}

type Problem = (&'static str, Severity, String);

impl<'a> Seen<'a> {
    /// Whether an earlier item has the same name, or one that differs only in case.
    fn taken(&mut self, index: usize, item: &'a Item) -> Option<Problem> {
        let (kind, key) = (item.kind(), item.key());
        let first = *self.exact.entry((kind, key)).or_insert(index);
        if first != index {
            let problem = format!("item {first} has the same; requests reach only that one");
            return Some((code::DUPLICATE_NAME, Severity::Error, problem));
        }
        if !has_name(kind) {
            return None;
        }
        let first = *self.folded.entry((kind, key.to_lowercase())).or_insert(key);
        let problem = || format!("differs from `{first}` only in case");
        (first != key).then(|| (code::SIMILAR_NAME, Severity::Warning, problem()))
    }
}

fn bad_name(item: &Item) -> Option<Problem> {
    if !has_name(item.kind()) {
        return None;
    }
    let length = item.name.chars().count();
    let strange = |one: &char| one.is_control() || one.is_whitespace();
    let problem = if length > MAX_NAME_CHARS {
        format!("has {length} characters; MCP allows {MAX_NAME_CHARS}")
    } else {
        let strange = item.name.chars().find(strange)?;
        format!("has the character {strange:?}, which clients refuse")
    };
    Some((code::BAD_NAME, Severity::Warning, problem))
}

/// Whether requests call the item by its name.
fn has_name(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::Tool | ItemKind::Prompt)
}
