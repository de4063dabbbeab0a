//! Reads the text of a configuration, past what is wrong with it.

use std::ops::Range;

use serde::Deserialize as _;
use toml::de::{DeArray, DeTable, DeValue, Deserializer, Error};

use super::{Problem, file::File};

/// What stands in a text, without that which cannot be read, and why it cannot. Nothing, if that is everything.
pub(super) fn read(text: &str) -> (Option<File>, Vec<Problem>) {
    let (mut table, errors) = DeTable::parse_recoverable(text);
    let mut problems: Vec<_> = errors.iter().map(problem).collect();
    if !problems.is_empty() {
        // What is no TOML may have been meant in many ways.
        return (None, problems);
    }
    let mut left_out = Vec::new();
    loop {
        let error = match File::deserialize(Deserializer::from(table.clone())) {
            Ok(file) => return (Some(file), problems),
            Err(error) => error,
        };
        let problem = problem(&error);
        let Some(path) = leave_out(table.get_mut(), &problem.span) else {
            problems.push(problem);
            return (None, problems);
        };
        // A key whose value could not be read is not missing.
        let is_left_out = missing(&problem.message)
            .is_some_and(|key| left_out.contains(&[&path[..], &[key.to_owned()]].concat()));
        if !is_left_out {
            problems.push(problem);
        }
        left_out.push(path);
    }
}

fn problem(error: &Error) -> Problem {
    Problem {
        span: error.span().unwrap_or_default(),
        message: error.message().to_owned(),
    }
}

/// The key that is missing, if an error says that one is.
fn missing(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Removes the entry that has this place for its key or its value, or else the innermost one in whose value it is; where
/// the entry stood, key by key.
fn leave_out(table: &mut DeTable<'_>, place: &Range<usize>) -> Option<Vec<String>> {
    let mut found = None;
    for (key, value) in table.iter_mut() {
        let name = key.get_ref().to_string();
        let span = value.span();
        if key.span() == *place || span == *place {
            found = Some(name);
            break;
        }
        let inner = match value.get_mut() {
            DeValue::Table(table) => leave_out(table, place),
            DeValue::Array(items) => leave_out_item(items, place),
            _ => None,
        };
        if let Some(inner) = inner {
            return Some([vec![name], inner].concat());
        }
        if span.start <= place.start && place.end <= span.end {
            found = Some(name);
            break;
        }
    }
    let name = found?;
    table.remove(name.as_str());
    Some(vec![name])
}

/// The same within an array. An item's key is where it begins: its number changes when one before it is left out.
fn leave_out_item(items: &mut DeArray<'_>, place: &Range<usize>) -> Option<Vec<String>> {
    let key = |span: Range<usize>| span.start.to_string();
    for item in items.iter_mut() {
        let span = item.span();
        if let DeValue::Table(table) = item.get_mut()
            && let Some(inner) = leave_out(table, place)
        {
            return Some([vec![key(span)], inner].concat());
        }
    }
    let holds = |span: Range<usize>| span.start <= place.start && place.end <= span.end;
    let found = items.iter().position(|item| holds(item.span()))?;
    let path = vec![key(items[found].span())];
    let all = std::mem::replace(items, DeArray::new()).into_iter();
    let rest = all.enumerate().filter(|(number, _)| *number != found);
    *items = rest.map(|(_, item)| item).collect();
    Some(path)
}
