//! Error messages for filters: what is wrong, where, and how to fix it.

use jaq_core::compile::{self, Undefined};
use jaq_core::load::{self, Error};

/// The maximum length of an error, which may contain a whole document.
const MAX_ERROR_CHARS: usize = 500;

/// The errors of a filter that cannot be parsed.
pub(crate) fn unread(code: &str, errors: load::Errors<&str, ()>) -> String {
    let errors = errors.into_iter().flat_map(|(_, error)| match error {
        Error::Io(modules) => modules
            .into_iter()
            .map(|(path, why)| at(code, path, &format!("{why}: write its definitions here")))
            .collect::<Vec<_>>(),
        Error::Lex(errors) => errors
            .into_iter()
            .map(|(expected, found)| unexpected(code, found, expected.as_str()))
            .collect(),
        Error::Parse(errors) => errors
            .into_iter()
            .map(|(expected, found)| unexpected(code, found, expected.as_str()))
            .collect(),
    });
    errors.collect::<Vec<_>>().join("\n")
}

/// The errors of a filter with undefined names.
pub(crate) fn undefined(code: &str, errors: compile::Errors<&str, ()>) -> String {
    let names = errors.into_iter().flat_map(|(_, names)| names);
    let errors = names.map(|(name, kind)| {
        let arguments = match kind {
            Undefined::Filter(count) if count > 0 => format!(" with {count} arguments"),
            _ => String::new(),
        };
        at(
            code,
            name,
            &format!("there is no {} `{name}`{arguments} here", kind.as_str()),
        )
    });
    errors.collect::<Vec<_>>().join("\n")
}

/// The outputs of a program before it failed, and its error.
pub(crate) fn failed(shown: &[String], error: &jaq_json::Error) -> String {
    let error: String = error.to_string().chars().take(MAX_ERROR_CHARS).collect();
    let advice = "inspect the input with `type` or `keys`, or skip values that do not fit with `?`";
    let mut lines = shown.to_vec();
    lines.push(format!(
        "[failed after {} outputs] {error}: {advice}",
        shown.len()
    ));
    lines.join("\n")
}

fn unexpected(code: &str, found: &str, expected: &str) -> String {
    let token: String = found.chars().take(20).collect();
    let token = match &*token {
        "" => "the end",
        token => &format!("`{token}`"),
    };
    at(code, found, &format!("expected {expected}, found {token}"))
}

fn at(code: &str, part: &str, what: &str) -> String {
    let before = &code[..load::span(code, part).start];
    format!("`filter`, character {}: {what}", before.chars().count() + 1)
}
