//! Where in a value something occurs: the first place, and how many there are.

use mcp_servlet_common::escape_pointer;
use serde_json::Value;

/// A place in an entry, and what is there.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    /// A JSON pointer.
    pub(crate) pointer: String,
    pub(crate) what: String,
}

/// What was found in an entry. Only the first place is kept, so that an entry cannot cause many
/// diagnostics.
#[derive(Default)]
pub(crate) struct Findings {
    first: Option<Finding>,
    count: usize,
}

impl Findings {
    /// Adds a place, as a JSON pointer, and what is there.
    pub(crate) fn add(&mut self, pointer: &str, what: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(|| Finding {
            pointer: pointer.to_owned(),
            what: what(),
        });
    }

    /// The first place, what is there, and how many other places there are.
    pub(crate) fn into_first(self) -> Option<Finding> {
        let mut first = self.first?;
        match self.count - 1 {
            0 => {}
            1 => first.what.push_str(", and in 1 other place"),
            others => first.what = format!("{}, and in {others} other places", first.what),
        }
        Some(first)
    }
}

/// What a search finds in a text at `/x` first.
#[cfg(test)]
pub(crate) fn first(
    find: impl FnOnce(&str, &mut String, &mut Findings),
    text: &str,
) -> Option<Finding> {
    let mut found = Findings::default();
    find(text, &mut "/x".to_owned(), &mut found);
    found.into_first()
}

/// Appends a name to a JSON pointer for as long as `visit` runs.
pub(crate) fn below<T>(
    pointer: &mut String,
    name: &str,
    visit: impl FnOnce(&mut String) -> T,
) -> T {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(&escape_pointer(name));
    let result = visit(pointer);
    pointer.truncate(length);
    result
}

/// Visits all strings of a value, including names of members, with their JSON pointers.
pub(crate) fn visit_strings(
    value: &Value,
    pointer: &mut String,
    visit: &mut impl FnMut(&str, &str),
) {
    match value {
        Value::String(text) => visit(pointer, text),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                below(pointer, &index.to_string(), |at| {
                    visit_strings(item, at, visit);
                });
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                below(pointer, name, |at| {
                    visit(at, name);
                    visit_strings(member, at, visit);
                });
            }
        }
        _ => {}
    }
}
