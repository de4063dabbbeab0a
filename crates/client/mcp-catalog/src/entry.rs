//! One entry of a list: its members, taken out one by one, and what is wrong with them.

use std::collections::BTreeMap;

use mcp_servlet_common::{escape_pointer, value_kind};
use serde_json::{Value, value::RawValue};

use crate::{
    JsonObject,
    canonical::{canonical_object, sha256},
    catalog::Schema,
    diagnostic::{Diagnostic, Severity, code},
    duplicates,
    finding::{Finding, Findings, visit_strings},
    hidden::hidden_characters,
    rounded,
    shallow::Members,
};

/// The maximum depth of a member. Deeper ones are left out, because most programs could not read a
/// catalog that has them: `serde_json` reads 127 levels.
const MAX_DEPTH: usize = 100;

/// How many hidden characters a message lists.
const MAX_SHOWN_CHARS: usize = 5;

/// An entry.
#[derive(Default)]
pub(crate) struct Entry {
    /// The members that nothing has taken.
    members: JsonObject,
    /// Why the other members cannot be read.
    unreadable: BTreeMap<String, String>,
    problems: Vec<Diagnostic>,
    sha256: String,
}

/// What is found in all members of an entry.
#[derive(Default)]
struct Found {
    duplicate: Findings,
    rounded: Findings,
    hidden: Findings,
}

/// What is left when everything known was taken out of an entry.
pub(crate) struct Rest {
    /// The other members.
    pub(crate) members: JsonObject,
    /// The digest of the whole entry.
    pub(crate) sha256: String,
    /// What is wrong with the entry.
    pub(crate) problems: Vec<Diagnostic>,
}

impl Entry {
    /// Reads an entry of a list.
    pub(crate) fn read(text: &RawValue) -> Self {
        match serde_json::from_str(text.get()) {
            Ok(Members(members)) => {
                let mut entry = Self::from_members(members);
                entry.sha256 = if entry.has_everything() {
                    sha256(&canonical_object(&entry.members))
                } else {
                    sha256(text.get())
                };
                entry
            }
            Err(error) => {
                let mut entry = Self {
                    sha256: sha256(text.get()),
                    ..Self::default()
                };
                let problem = match parse_member(text) {
                    Ok(value) if !value.is_object() => unexpected("an object", &value),
                    _ => without_position(&error),
                };
                entry.problem(code::BAD_ENTRY, Severity::Error, "", problem);
                entry
            }
        }
    }

    /// Whether the members are the whole entry.
    fn has_everything(&self) -> bool {
        let mut problems = self.problems.iter();
        self.unreadable.is_empty()
            && !problems.any(|problem| problem.code == code::DUPLICATE_MEMBER)
    }

    /// Reads members. Of several with one name, the last one counts, as in most programs.
    pub(crate) fn from_members(members: Vec<(String, &RawValue)>) -> Self {
        let mut entry = Self::default();
        let mut found = Found::default();
        for (name, text) in members {
            entry.read_member(name, text, &mut found);
        }
        entry.report(found);
        entry
    }

    fn read_member(&mut self, name: String, text: &RawValue, found: &mut Found) {
        let mut pointer = format!("/{}", escape_pointer(&name));
        if self.members.contains_key(&name) || self.unreadable.contains_key(&name) {
            found.duplicate.add(&pointer, || format!("`{name}`"));
        }
        find_hidden(&pointer, &name, &mut found.hidden);
        match parse_member(text) {
            Ok(value) => {
                duplicates::find(text.get(), &mut pointer, &mut found.duplicate);
                rounded::find(text.get(), &mut pointer, &mut found.rounded);
                visit_strings(&value, &mut pointer, &mut |at, text| {
                    find_hidden(at, text, &mut found.hidden);
                });
                self.unreadable.remove(&name);
                self.members.insert(name, value);
            }
            Err(problem) => {
                self.members.shift_remove(&name);
                self.unreadable.insert(name, problem);
            }
        }
    }

    fn report(&mut self, found: Found) {
        self.warn(code::DUPLICATE_MEMBER, found.duplicate, |name| {
            format!("has the name of an earlier member: {name}; the last one counts")
        });
        self.warn(code::ROUNDED_NUMBER, found.rounded, |number| {
            format!("does not fit in 64 bits and was rounded: {number}")
        });
        self.warn(code::HIDDEN_TEXT, found.hidden, |characters| {
            format!("has characters that people cannot see: {characters}")
        });
    }

    fn warn(&mut self, code: &'static str, found: Findings, problem: impl FnOnce(&str) -> String) {
        if let Some(Finding { pointer, what }) = found.into_first() {
            self.problem(code, Severity::Warning, &pointer, problem(&what));
        }
    }

    /// Reports a problem. The pointer is one into the entry.
    pub(crate) fn problem(
        &mut self,
        code: &'static str,
        severity: Severity,
        pointer: &str,
        problem: impl Into<String>,
    ) {
        self.problems
            .push(Diagnostic::new(code, severity, pointer, problem));
    }

    /// Reports a problem of a member.
    fn bad_member(&mut self, severity: Severity, name: &str, problem: impl Into<String>) {
        let pointer = format!("/{}", escape_pointer(name));
        self.problem(code::BAD_MEMBER, severity, &pointer, problem);
    }

    /// Takes a string. Reports it if it is missing or empty.
    pub(crate) fn required_text(&mut self, name: &str) -> String {
        let problem = match self.members.get(name) {
            None | Some(Value::Null) => Some("is missing; expected a string"),
            Some(Value::String(text)) if text.is_empty() => Some("is empty"),
            Some(_) => None,
        };
        if let Some(problem) = problem.filter(|_| !self.unreadable.contains_key(name)) {
            self.bad_member(Severity::Error, name, problem);
        }
        self.text(name).unwrap_or_default()
    }

    /// Takes a string.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name, "a string", |value| match value {
            Value::String(text) => Ok(text),
            other => Err(other),
        })
    }

    /// Takes an object.
    pub(crate) fn object(&mut self, name: &str) -> Option<JsonObject> {
        self.take(name, "an object", |value| match value {
            Value::Object(members) => Ok(members),
            other => Err(other),
        })
    }

    /// Takes an array.
    pub(crate) fn array(&mut self, name: &str) -> Option<Vec<Value>> {
        self.take(name, "an array", |value| match value {
            Value::Array(items) => Ok(items),
            other => Err(other),
        })
    }

    /// Takes a number of bytes.
    pub(crate) fn size(&mut self, name: &str) -> Option<u64> {
        self.take(name, "a size in bytes", |value| value.as_u64().ok_or(value))
    }

    /// Takes a schema; `None` if there is none.
    pub(crate) fn schema(&mut self, name: &str) -> Option<Schema> {
        let (json, error) = match self.unreadable.remove(name) {
            Some(problem) => (Value::Null, Some(problem)),
            None => match self.members.shift_remove(name)? {
                Value::Null => return None,
                json @ Value::Object(_) => (json, None),
                json => {
                    let error = unexpected("an object", &json);
                    (json, Some(error))
                }
            },
        };
        if let Some(error) = &error {
            let pointer = format!("/{name}");
            self.problem(code::BAD_SCHEMA, Severity::Error, &pointer, error);
        }
        Some(Schema { json, error })
    }

    /// Takes a member of a type. One of another type stays and is reported. Null means absent.
    fn take<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(Value) -> Result<T, Value>,
    ) -> Option<T> {
        match read(self.members.shift_remove(name)?) {
            Ok(value) => Some(value),
            Err(Value::Null) => None,
            Err(other) => {
                let problem = unexpected(expected, &other);
                self.bad_member(Severity::Warning, name, problem);
                self.members.insert(name.to_owned(), other);
                None
            }
        }
    }

    /// What is left.
    pub(crate) fn into_rest(mut self) -> Rest {
        let first = self.problems.first();
        if first.is_some_and(|first| first.code == code::BAD_ENTRY) {
            // Such an entry lacks every member.
            self.problems.truncate(1);
        }
        for (name, problem) in std::mem::take(&mut self.unreadable) {
            self.bad_member(Severity::Error, &name, problem);
        }
        Rest {
            members: self.members,
            sha256: self.sha256,
            problems: self.problems,
        }
    }
}

/// "expected a string, found a number".
pub(crate) fn unexpected(expected: &str, found: &Value) -> String {
    format!("expected {expected}, found {}", value_kind(found))
}

fn parse_member(text: &RawValue) -> Result<Value, String> {
    let value = serde_json::from_str(text.get()).map_err(|error| without_position(&error))?;
    if depth(&value) > MAX_DEPTH {
        return Err(format!("nests more than {MAX_DEPTH} levels deep"));
    }
    Ok(value)
}

/// The error without its position, which counts from the start of the member.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = match text.split_once(" at line ") {
        Some((text, _)) => text.to_owned(),
        None => text,
    };
    match &*text {
        "recursion limit exceeded" => format!("nests more than {MAX_DEPTH} levels deep"),
        _ => text,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn find_hidden(pointer: &str, text: &str, found: &mut Findings) {
    let mut characters = hidden_characters(text).peekable();
    if characters.peek().is_some() {
        found.add(pointer, || {
            let mut shown: Vec<_> = characters
                .by_ref()
                .take(MAX_SHOWN_CHARS)
                .map(|one| format!("U+{:04X}", u32::from(one)))
                .collect();
            shown.extend(characters.next().map(|_| "…".to_owned()));
            shown.join(", ")
        });
    }
}
