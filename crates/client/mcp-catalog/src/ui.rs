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
    let is_listed = |uri: &str| {
        let mut templates = keys(items, ItemKind::ResourceTemplate);
        listed.contains(uri) || templates.any(|template| may_match(template, uri))
    };
    let items = items.iter().enumerate();
    let dangling = items.filter_map(|(index, item)| {
        let uri = ui_of(item).filter(|uri| !is_listed(uri))?;
        Some(dangling(uri).of(item.to_key(index)))
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

/// Whether a URI begins like a template.
fn may_match(template: &str, uri: &str) -> bool {
    let start = template.split_once('{').map(|(start, _)| start);
    start.is_some_and(|start| start.starts_with("ui://") && uri.starts_with(start))
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
