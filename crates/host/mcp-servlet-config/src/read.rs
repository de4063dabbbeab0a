//! Parses a configuration and collects every problem instead of stopping at the first.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue, Deserializer, Error, ValueDeserializer},
};

use super::{
    Config, Problem,
    bundle::{self, ReadBundles, ToolSection},
    file::File,
    secrets,
    table::Table,
    wording,
};

/// How many servlets a configuration may have. Each one has an instance, and its file is checked
/// four times a second.
const MAX_SERVLETS: usize = 10_000;

/// The maximum length of a file in bytes. Parsing takes time and memory before the servlets can be counted.
const MAX_LENGTH: usize = 8 << 20;

/// The result of parsing a configuration.
pub(super) struct Read {
    /// Everything that could be read. None if the text is not TOML.
    pub(super) file: Option<File>,
    /// The virtual tools, by bundle.
    pub(super) bundles: ReadBundles,
    pub(super) problems: Vec<Problem>,
    /// The paths of keys whose values could not be read, except in servlets, remotes and bundles.
    pub(super) left_out: Vec<Vec<String>>,
    /// The byte ranges that errors must not show.
    pub(super) secrets: Vec<Range<usize>>,
}

/// Parses a configuration and skips the parts that are invalid.
pub(super) fn read(text: &str) -> Read {
    if text.len() > MAX_LENGTH {
        return too_long(text);
    }
    let (mut table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        // Without a TOML table, no part of the text can be trusted.
        return Read {
            file: None,
            bundles: ReadBundles::default(),
            problems: match json(text) {
                Some(problem) => vec![problem],
                None => errors.iter().map(problem).collect(),
            },
            left_out: Vec::new(),
            secrets: of_garbled(text),
        };
    }
    let secrets = secrets::of_table(table.get_ref(), text);
    let mut problems = Vec::new();
    // Servlets are deserialized one by one, so that a mistake in one does not repeat the work for the others.
    let mut take = |key, example| take_sections(table.get_mut(), key, example, &mut problems);
    let servlets = take("servlet", "[servlet.weather]");
    let remotes = take("remote", "[remote.github]");
    let bundles = take("bundle", "[bundle.ops.tool.search]");
    let span = table.span();
    let head = Spanned::new(span, DeValue::Table(table.into_inner()));
    let read_head = |value: Spanned<DeValue<'_>>| {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            unreachable!("a table was put in");
        };
        File::deserialize(Deserializer::from(Spanned::new(span, table)))
    };
    let mut left_out = Vec::new();
    let mut file = recover(head, read_head, &mut problems, &mut left_out).unwrap_or_default();
    if let Some(mut servlets) = servlets {
        leave_out_too_many(&mut servlets, &mut problems);
        file.servlet = sections(servlets, &mut problems);
    }
    file.remote = remotes.map_or_else(BTreeMap::new, |remotes| sections(remotes, &mut problems));
    let bundles = bundles.map(|bundles| read_bundles(bundles, text, &mut problems));
    for problem in &mut problems {
        if secrets.iter().any(|secret| overlap(secret, &problem.span)) {
            wording::remove_found_value(&mut problem.message);
        }
    }
    Read {
        file: Some(file),
        bundles: bundles.unwrap_or_default(),
        problems,
        left_out,
        secrets,
    }
}

/// The problem of a file that is JSON, as those of most clients are.
fn json(text: &str) -> Option<Problem> {
    let mut lines = text.split_inclusive('\n').scan(0, |start, line| {
        let at = *start;
        *start += line.len();
        Some((at, line))
    });
    let is_content = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    let (start, _) = lines.find(|(_, line)| is_content(line))?;
    let message = "expected TOML, found JSON; write the server of another program as `[remote.NAME]` with its `command` or `url`";
    text[start..].starts_with('{').then(|| Problem {
        span: start..start + 1,
        message: message.to_owned(),
    })
}

/// The parts of a text that may be secrets, if it is not TOML.
fn of_garbled(text: &str) -> Vec<Range<usize>> {
    let mut keys = BTreeSet::new();
    collect_keys(&Config::schema(), &mut keys);
    secrets::of_garbled(text, |key| keys.contains(key))
}

/// Collects the names of all properties in a schema.
fn collect_keys(schema: &Value, keys: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            object.values().for_each(|value| collect_keys(value, keys));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

/// Removes the table whose entries are sections.
fn take_sections<'t>(
    table: &mut DeTable<'t>,
    key: &str,
    example: &str,
    problems: &mut Vec<Problem>,
) -> Option<DeTable<'t>> {
    let value = table.remove(key)?;
    let span = value.span();
    if let DeValue::Table(sections) = value.into_inner() {
        return Some(sections);
    }
    let message = format!("expected a table for each {key}, such as {example}");
    problems.push(Problem { span, message });
    None
}

/// Deserializes sections one by one.
fn sections<T: DeserializeOwned>(
    table: DeTable<'_>,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Spanned<T>> {
    let read = |value| Table::<T>::deserialize(ValueDeserializer::from(value));
    let mut sections = BTreeMap::new();
    for (name, value) in table {
        let span = value.span();
        if let Some(Table(section)) = recover(value, read, problems, &mut Vec::new()) {
            sections.insert(name.into_inner().into_owned(), Spanned::new(span, section));
        }
    }
    sections
}

fn read_bundles(bundles: DeTable<'_>, text: &str, problems: &mut Vec<Problem>) -> ReadBundles {
    let read = |value| Table::<ToolSection>::deserialize(ValueDeserializer::from(value));
    bundle::read(bundles, text, problems, |value, problems| {
        let read = recover(value, read, problems, &mut Vec::new());
        read.map(|Table(section)| section)
    })
}

fn too_long(text: &str) -> Read {
    let found = text.len();
    let message = format!(
        "expected at most {MAX_LENGTH} bytes, found {found}; name a directory as the `source` of many servlets, or run several servers"
    );
    Read {
        file: None,
        bundles: ReadBundles::default(),
        problems: vec![Problem {
            span: 0..0,
            message,
        }],
        left_out: Vec::new(),
        secrets: of_garbled(text),
    }
}

/// Removes the servlets past [`MAX_SERVLETS`].
fn leave_out_too_many(servlets: &mut DeTable<'_>, problems: &mut Vec<Problem>) {
    if servlets.len() <= MAX_SERVLETS {
        return;
    }
    let mut spans: Vec<_> = servlets.keys().map(Spanned::span).collect();
    spans.sort_unstable_by_key(|span| span.start);
    let span = spans.swap_remove(MAX_SERVLETS);
    let found = servlets.len();
    let all = std::mem::take(servlets).into_iter();
    *servlets = all
        .filter(|(name, _)| name.span().start < span.start)
        .collect();
    let message = format!(
        "expected at most {MAX_SERVLETS} servlets, found {found}; name a directory as the `source` of many, or use several \
         configurations"
    );
    problems.push(Problem { span, message });
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn problem(error: &Error) -> Problem {
    Problem {
        span: error.span().unwrap_or_default(),
        message: error.message().to_owned(),
    }
}

/// Deserializes a value and skips its invalid entries, whose paths are added to `left_out`.
fn recover<'t, T>(
    mut value: Spanned<DeValue<'t>>,
    read: impl Fn(Spanned<DeValue<'t>>) -> Result<T, Error>,
    problems: &mut Vec<Problem>,
    left_out: &mut Vec<Vec<String>>,
) -> Option<T> {
    loop {
        let error = match read(value.clone()) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let mut problem = problem(&error);
        let missing = missing(&problem.message).map(str::to_owned);
        problem.message = wording::reworded(&problem.message);
        // serde reports a missing key only after all others were read.
        let is_last = missing.is_some() && problem.span == value.span();
        let path = match value.get_mut() {
            DeValue::Table(table) if !is_last => leave_out(table, &problem.span),
            _ => None,
        };
        let place = path.as_deref().unwrap_or_default();
        // The key is there; its value was removed because it is invalid.
        let is_left_out = missing.is_some_and(|key| left_out.contains(&[place, &[key]].concat()));
        if !is_left_out {
            problems.push(problem);
        }
        left_out.push(path?);
    }
}

/// The missing key, if the error is about one.
fn missing(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Removes the entry whose key or value has this span, or else the innermost one whose value
/// contains it. Returns the keys that lead to it.
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

/// Like [`leave_out`], within an array. The key of an item is its offset: its index changes when an
/// earlier item is removed.
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
