//! A node together with its place, and the questions one asks of it.

use crate::diagnostic::{Code, Report};
use crate::document::Name;
use crate::node::{Key, Node, Value};
use crate::span::{At, Pointer, Span};

/// A node and the path that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    node: &'a Node,
    pointer: Pointer,
    /// Where the node is announced: its key, or itself.
    announced: Span,
}

impl<'a> Cursor<'a> {
    pub(crate) fn root(node: &'a Node) -> Self {
        Self {
            node,
            pointer: Pointer::root(),
            announced: node.span,
        }
    }

    /// The place of the value.
    pub(crate) fn at(&self) -> At {
        At {
            span: self.node.span,
            pointer: self.pointer.clone(),
        }
    }

    /// The place of the key that announces the value.
    pub(crate) fn at_key(&self) -> At {
        At {
            span: self.announced,
            pointer: self.pointer.clone(),
        }
    }

    fn wrong_kind(&self, wanted: &str, report: &mut Report) {
        // An empty value has no place of its own to point at.
        let empty = matches!(self.node.value, Value::Null);
        let at = if empty { self.at_key() } else { self.at() };
        let found = self.node.value.kind();
        let message = format!("expected {wanted}, found {found}");
        report.error(Code::WrongKind, &at, message);
    }

    pub(crate) fn text(&self, report: &mut Report) -> Option<&'a str> {
        let Value::Text(text) = &self.node.value else {
            self.wrong_kind("a string", report);
            return None;
        };
        Some(text)
    }

    pub(crate) fn name(&self, report: &mut Report) -> Option<Name> {
        let text = self.text(report)?.to_owned();
        Some(Name {
            text,
            at: self.at(),
        })
    }

    pub(crate) fn boolean(&self, report: &mut Report) -> Option<bool> {
        let Value::Bool(value) = self.node.value else {
            self.wrong_kind("a boolean", report);
            return None;
        };
        Some(value)
    }

    pub(crate) fn list(&self, report: &mut Report) -> Option<Vec<Self>> {
        let Value::List(items) = &self.node.value else {
            self.wrong_kind("a list", report);
            return None;
        };
        let items = items.iter().enumerate();
        let cursors = items.map(|(index, node)| Self {
            node,
            pointer: self.pointer.child(&index.to_string()),
            announced: node.span,
        });
        Some(cursors.collect())
    }

    /// The entries of a map whose keys are the author's.
    pub(crate) fn entries(&self, report: &mut Report) -> Option<Vec<(Name, Self)>> {
        let Value::Map(entries) = &self.node.value else {
            self.wrong_kind("a map", report);
            return None;
        };
        let pairs = entries
            .iter()
            .map(|entry| self.entry(&entry.key, &entry.value));
        Some(pairs.collect())
    }

    fn entry(&self, key: &Key, node: &'a Node) -> (Name, Self) {
        let cursor = Self {
            node,
            pointer: self.pointer.child(&key.text),
            announced: key.span,
        };
        let name = Name {
            text: key.text.clone(),
            at: cursor.at_key(),
        };
        (name, cursor)
    }
}

/// The entries of a map whose keys are XTP's.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) whole: Cursor<'a>,
    entries: Vec<(Name, Cursor<'a>)>,
}

impl<'a> Fields<'a> {
    /// Reads a map and reports each key that `what` does not have.
    pub(crate) fn read(
        whole: &Cursor<'a>,
        what: &str,
        allowed: &[&str],
        report: &mut Report,
    ) -> Option<Self> {
        let entries = whole.entries(report)?;
        for (key, _) in &entries {
            if !allowed.contains(&key.text.as_str()) {
                let message = format!("{what} has no key `{}`", key.text);
                let problem = report.error(Code::UnknownKey, &key.at, message);
                problem.help(format!("the keys are `{}`", allowed.join("`, `")));
            }
        }
        let whole = whole.clone();
        Some(Self { whole, entries })
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Cursor<'a>> {
        let mut entries = self.entries.iter();
        entries.find_map(|(name, value)| (name.text == key).then_some(value))
    }

    pub(crate) fn required(&self, key: &str, report: &mut Report) -> Option<Cursor<'a>> {
        let found = self.get(key).cloned();
        if found.is_none() {
            let message = format!("the key `{key}` is missing");
            report.error(Code::MissingKey, &self.whole.at_key(), message);
        }
        found
    }

    /// A text that may be absent, such as a description.
    pub(crate) fn text(&self, key: &str, report: &mut Report) -> Option<String> {
        let text = self.get(key)?.text(report)?;
        Some(text.to_owned())
    }
}
