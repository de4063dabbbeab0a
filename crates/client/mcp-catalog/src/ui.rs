//! User interfaces (MCP Apps).

use std::collections::HashSet;

use serde_json::Value;

use crate::{
    JsonObject,
    catalog::{Detail, Item, Ui},
    diagnostic::{Diagnostic, ItemKind, Severity, code},
    entry::{Entry, unexpected},
};

/// Reads `_meta.ui`, and for tools the older `_meta["ui/resourceUri"]`.
pub(crate) fn read(of: ItemKind, meta: Option<&JsonObject>, entry: &mut Entry) -> Option<Ui> {
    let meta = meta?;
    let mut ui = match meta.get("ui") {
        None | Some(Value::Null) => None,
        Some(Value::Object(members)) => Some(read_members(members, entry)),
        Some(other) => {
            report(entry, "/_meta/ui", "an object", other);
            None
        }
    };
    if of == ItemKind::Tool
        && let Some(uri) = meta.get("ui/resourceUri").and_then(Value::as_str)
    {
        let ui = ui.get_or_insert_default();
        ui.resource_uri.get_or_insert_with(|| uri.to_owned());
    }
    ui
}

fn read_members(members: &JsonObject, entry: &mut Entry) -> Ui {
    let mut reader = Reader { members, entry };
    Ui {
        resource_uri: reader.member("resourceUri", "a string", as_text),
        visibility: reader.member("visibility", "an array of strings", as_texts),
        csp: reader.member("csp", "an object", |value| value.as_object().cloned()),
        permissions: reader.member("permissions", "an object", |value| {
            value.as_object().cloned()
        }),
        domain: reader.member("domain", "a string", as_text),
        prefers_border: reader.member("prefersBorder", "a boolean", Value::as_bool),
    }
}

struct Reader<'a> {
    members: &'a JsonObject,
    entry: &'a mut Entry,
}

impl Reader<'_> {
    fn member<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.members.get(name).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            report(self.entry, &format!("/_meta/ui/{name}"), expected, value);
        }
        read
    }
}

fn as_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn as_texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(as_text).collect()
}

fn report(entry: &mut Entry, pointer: &str, expected: &str, found: &Value) {
    let problem = unexpected(expected, found);
    entry.problem(code::BAD_MEMBER, Severity::Warning, pointer, problem);
}

/// Finds tools whose user interface is not among the resources.
pub(crate) fn find_dangling(items: &[Item]) -> Vec<Diagnostic> {
    let listed: HashSet<_> = keys(items, ItemKind::Resource).collect();
    let templates = Prefixes::new(keys(items, ItemKind::ResourceTemplate).filter_map(prefix));
    let is_listed = |uri: &str| listed.contains(uri) || templates.begin(uri);
    let items = items.iter().enumerate();
    let dangling = items.filter_map(|(index, item)| {
        let uri = ui_of(item).filter(|uri| !is_listed(uri))?;
        Some(dangling(uri).of_item(item.to_key(index)))
    });
    dangling.collect()
}

/// The URI of a tool's user interface.
fn ui_of(item: &Item) -> Option<&str> {
    match &item.detail {
        Detail::Tool(tool) => tool.ui.as_ref()?.resource_uri.as_deref(),
        _ => None,
    }
}

fn keys(items: &[Item], kind: ItemKind) -> impl Iterator<Item = &str> {
    items
        .iter()
        .filter(move |item| item.kind() == kind)
        .map(Item::key)
}

/// The text before the first variable of a template for user interfaces.
fn prefix(template: &str) -> Option<&str> {
    let (prefix, _) = template.split_once('{')?;
    prefix.starts_with("ui://").then_some(prefix)
}

/// Sorted prefixes. One comparison finds the prefix of a text, because no prefix begins with another.
struct Prefixes<'a>(Vec<&'a str>);

impl<'a> Prefixes<'a> {
    fn new(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut sorted: Vec<_> = texts.collect();
        sorted.sort_unstable();
        sorted.dedup_by(|later, first| later.starts_with(*first));
        Self(sorted)
    }

    /// Whether one of the texts is at the beginning of a text.
    fn begin(&self, text: &str) -> bool {
        let after = self.0.partition_point(|prefix| *prefix <= text);
        let last = after.checked_sub(1).map(|index| self.0[index]);
        last.is_some_and(|prefix| text.starts_with(prefix))
    }
}

fn dangling(uri: &str) -> Diagnostic {
    let (severity, problem, help) = if uri.starts_with("ui://") {
        (
            Severity::Note,
            "is not among the resources",
            "list the resource, so that hosts can load it before the tool is called and people can review it",
        )
    } else {
        (
            Severity::Warning,
            "is not the URI of a user interface",
            "use a resource whose URI begins with `ui://`",
        )
    };
    let problem = format!("`{uri}` {problem}");
    Diagnostic::new(
        code::DANGLING_UI,
        severity,
        "/_meta/ui/resourceUri",
        problem,
    )
    .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_found_among_similar_texts() {
        let prefixes =
            Prefixes::new(["ui://b/", "ui://a/x", "ui://a/", "ui://a/y", "ui://c"].into_iter());
        for (text, expected) in [
            ("ui://a/z", true),
            ("ui://a/x/1", true),
            ("ui://b/", true),
            ("ui://cc", true),
            ("ui://a", false),
            ("ui://b0", false),
            ("ui://", false),
            ("ui://d", false),
        ] {
            assert_eq!(prefixes.begin(text), expected, "{text}");
        }
        assert!(!Prefixes::new(std::iter::empty()).begin("ui://a"));
    }
}
