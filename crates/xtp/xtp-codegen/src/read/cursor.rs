//! A node with its position, and methods that read it.

use crate::diagnostic::{Code, Diagnostic, Report};
use crate::document::Name;
use crate::node::{Key, Node, Value};
use crate::rules::Rule;
use crate::span::{At, Pointer, Span};
use crate::suggest;

/// A node and the path that led to it.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    node: &'a Node,
    pointer: Pointer,
    /// The position of the node's key, or of the node itself.
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

    /// The position of the value.
    pub(crate) fn at(&self) -> At {
        At {
            span: self.node.span,
            pointer: self.pointer.clone(),
        }
    }

    /// The position of the key.
    pub(crate) fn at_key(&self) -> At {
        At {
            span: self.announced,
            pointer: self.pointer.clone(),
        }
    }

    /// Reports that the value is of another kind than `wanted`.
    pub(crate) fn wrong_kind<'r>(
        &self,
        wanted: &str,
        rule: Rule,
        report: &'r mut Report,
    ) -> &'r mut Diagnostic {
        // An empty value has no position of its own.
        let empty = self.is_null();
        let at = if empty { self.at_key() } else { self.at() };
        let found = self.node.value.kind();
        let message = format!("expected {wanted}, found {found}");
        report.add(rule, Code::WrongKind, &at, message)
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.node.value, Value::Null)
    }

    /// The value, for callers that accept several kinds.
    pub(crate) fn value(&self) -> &'a Value {
        &self.node.value
    }

    pub(crate) fn text(&self, report: &mut Report) -> Option<&'a str> {
        let Value::Text(text) = &self.node.value else {
            self.no_text(Rule::Always, report);
            return None;
        };
        Some(text)
    }

    /// Reports that the value is not a string. YAML takes some words without quotes as numbers and booleans.
    fn no_text(&self, rule: Rule, report: &mut Report) {
        let problem = self.wrong_kind("a string", rule, report);
        if !matches!(
            self.node.value,
            Value::Null | Value::List(_) | Value::Map(_)
        ) {
            problem.help("write it in quotes");
        }
    }

    /// Reads a string that is required.
    pub(crate) fn expect_text(&self, rule: Rule, report: &mut Report) -> Option<String> {
        if let Value::Text(text) = &self.node.value {
            return Some(text.clone());
        }
        self.no_text(rule, report);
        None
    }

    pub(crate) fn name(&self, report: &mut Report) -> Option<Name> {
        let text = self.text(report)?.to_owned();
        Some(Name {
            text,
            at: self.at(),
        })
    }

    pub(crate) fn list(&self, report: &mut Report) -> Option<Vec<Self>> {
        let Value::List(items) = &self.node.value else {
            self.wrong_kind("a list", Rule::Always, report);
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

    /// The value of a key, if it is a map that has the key.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let Value::Map(entries) = &self.node.value else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key.text == key)?;
        Some(self.entry(&entry.key, &entry.value).1)
    }

    /// The entries, if it is a map.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Name, Self)> {
        let entries = match &self.node.value {
            Value::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        entries
            .iter()
            .map(|entry| self.entry(&entry.key, &entry.value))
    }

    /// The entries of a map whose keys the author chose.
    pub(crate) fn entries(&self, report: &mut Report) -> Option<Vec<(Name, Self)>> {
        if !matches!(self.node.value, Value::Map(_)) {
            self.wrong_kind("a map", Rule::Always, report);
            return None;
        }
        Some(self.members().collect())
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

/// The entries of a map whose keys XTP defines.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) whole: Cursor<'a>,
    entries: Vec<(Name, Cursor<'a>)>,
}

/// The keys of unions.
const PROPOSED: [&str; 2] = ["oneOf", "discriminator"];

/// The keys that an item can have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys<'k> {
    /// The item, for messages.
    pub(crate) what: &'k str,
    /// The keys of the published rules.
    pub(crate) published: &'k [&'k str],
    /// The other keys with a meaning.
    pub(crate) beyond: &'k [&'k str],
}

impl<'a> Fields<'a> {
    /// Reads a map.
    pub(crate) fn new(whole: &Cursor<'a>, report: &mut Report) -> Option<Self> {
        let entries = whole.entries(report)?;
        let whole = whole.clone();
        Some(Self { whole, entries })
    }

    /// Reads a map and reports each unexpected key.
    pub(crate) fn read(whole: &Cursor<'a>, keys: &Keys<'_>, report: &mut Report) -> Option<Self> {
        let fields = Self::new(whole, report)?;
        fields.expect(keys, report);
        Some(fields)
    }

    /// Reports each unexpected key.
    pub(crate) fn expect(&self, keys: &Keys<'_>, report: &mut Report) {
        let Keys {
            what,
            published,
            beyond,
        } = keys;
        let known = published.iter().chain(*beyond).copied();
        let missing: Vec<&str> = known.filter(|known| self.get(known).is_none()).collect();
        for (key, _) in &self.entries {
            let text = key.text.as_str();
            if published.contains(&text) {
                continue;
            }
            if beyond.contains(&text) {
                let message = format!("by the published rules, {what} has no `{text}`");
                let code = Code::BeyondPublished;
                let problem = report.add(Rule::Published, code, &key.at, message);
                problem.help("the official library takes it, and so does this generator");
            } else {
                unknown(key, keys, &missing, report);
            }
        }
    }

    /// The values of all entries.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Cursor<'a>> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// Whether the map has a key, with a value that the library does not take for absent.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some_and(|found| found.value().is_truthy())
    }

    /// Whether the map has one of `keys`.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|(name, _)| keys.contains(&name.text.as_str()))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Cursor<'a>> {
        let mut entries = self.entries.iter();
        entries.find_map(|(name, value)| (name.text == key).then_some(value))
    }

    /// An entry, unless the library takes it for absent: empty, false or zero.
    pub(crate) fn filled(
        &self,
        key: &str,
        wanted: &str,
        report: &mut Report,
    ) -> Option<&Cursor<'a>> {
        let found = self.get(key)?;
        if found.value().is_truthy() {
            return Some(found);
        }
        let problem = found.wrong_kind(wanted, Rule::Published, report);
        problem.help("it has no effect; remove it");
        None
    }

    /// An entry that the reader cannot do without.
    pub(crate) fn required(&self, key: &str, report: &mut Report) -> Option<Cursor<'a>> {
        self.wanted(key, Rule::Always, report)
    }

    /// An entry that should be present.
    pub(crate) fn wanted(&self, key: &str, rule: Rule, report: &mut Report) -> Option<Cursor<'a>> {
        let found = self.get(key).cloned();
        if found.is_none() {
            let message = format!("the key `{key}` is missing");
            report.add(rule, Code::MissingKey, &self.whole.at_key(), message);
        }
        found
    }

    /// Reads an optional string, such as a description. The library accepts any value.
    pub(crate) fn text(&self, key: &str, report: &mut Report) -> Option<String> {
        let cursor = self.get(key)?;
        cursor.expect_text(Rule::Published, report)
    }
}

/// Reports a key without a meaning. Every mode reports a key that looks like a typo or belongs to a proposal that is
/// not enabled. `missing` are the known keys that the map lacks.
fn unknown(key: &Name, keys: &Keys<'_>, missing: &[&str], report: &mut Report) {
    let (what, text) = (keys.what, key.text.as_str());
    // Only types, which may be references, can be unions.
    if PROPOSED.contains(&text) && keys.beyond.contains(&"$ref") {
        let message = format!("`{text}` is a proposal that is not part of XTP");
        let problem = report.add(Rule::Ignored, Code::Unsupported, &key.at, message);
        problem.help(
            "generate with `--one-of`, or in a build script with `.one_of(true)`; without it, this has no effect",
        );
        return;
    }
    let suggestion = suggest::nearest(text, missing.iter().copied());
    let rule = suggestion.map_or(Rule::Published, |_| Rule::Ignored);
    let message = format!("{what} has no key `{}`", text.escape_debug());
    let problem = report.add(rule, Code::UnknownKey, &key.at, message);
    problem.help(match suggestion {
        Some(suggestion) => format!("it has no effect; did you mean `{suggestion}`?"),
        None => format!(
            "it has no effect; the keys are {}",
            suggest::listed(keys.published)
        ),
    });
}
