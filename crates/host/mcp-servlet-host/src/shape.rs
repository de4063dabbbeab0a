//! What clients get of the results of a tool.
//!
//! Members and items are left out of structured content and of texts that are JSON; other texts are cut at the end. A text and
//! `_meta` count what was cut because of a limit.

use std::{fmt, str::FromStr};

use mcp_servlet_call::JsonObject;
use mcp_servlet_common::{escape_pointer, unescape_pointer};
use mcp_servlet_schema::{MAP, similar};
use serde_json::{Value, json};

use crate::{CallToolResult, Tool};

/// The key of `_meta` with what was cut: numbers of items by the JSON pointers of their lists, and of characters by those of texts.
const CUT: &str = "mcp-servlet/cut";

/// How many cut lists are named in the text.
const MAX_LISTS_IN_TEXT: usize = 5;
/// How many cut lists are named in `_meta`. A hostile result has many.
const MAX_NAMED_LISTS: usize = 100;
/// Lists with longer JSON pointers are only counted, in bytes of the pointer.
const MAX_NAMED_POINTER: usize = 1_000;

/// What clients get of the results of a tool. Start with `Shape::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// What stays of objects and lists. Everything if it is empty.
    pub take: Vec<ShapePath>,
    /// How many items a list may have.
    pub most: Option<usize>,
    /// How many characters a text may have.
    pub chars: Option<usize>,
    /// The argument with which the model gets the rest.
    pub more: Option<String>,
}

/// A JSON pointer in which `*` stands for any item or member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapePath(Vec<String>);

/// The text is not such a pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a JSON pointer such as `/items/*/title`, found `{0}`")]
pub struct InvalidShapePath(String);

impl FromStr for ShapePath {
    type Err = InvalidShapePath;

    fn from_str(text: &str) -> Result<Self, InvalidShapePath> {
        text.strip_prefix('/')
            .map(|names| names.split('/'))
            .into_iter()
            .flatten()
            .map(unescaped)
            .collect::<Option<Vec<_>>>()
            .filter(|names| !names.is_empty())
            .map(Self)
            .ok_or_else(|| InvalidShapePath(text.to_owned()))
    }
}

impl fmt::Display for ShapePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|name| write!(f, "/{}", escape_pointer(name)))
    }
}

fn unescaped(name: &str) -> Option<String> {
    let text = unescape_pointer(name);
    // Each `~` begins one of these.
    let escapes = name.matches("~0").count() + name.matches("~1").count();
    (name.matches('~').count() == escapes).then_some(text)
}

/// What is wrong with a shape of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeProblem {
    /// This path of `take` leads nowhere.
    Take(usize, String),
    /// There is no argument `more`.
    More(String),
}

impl Shape {
    /// What is wrong with it for a tool of this member.
    pub fn problems(&self, member: &str, tool: &Tool) -> Vec<ShapeProblem> {
        let mut problems = Vec::new();
        let name = tool.name();
        let hint = |known: Option<String>| {
            known.map_or_else(String::new, |known| format!("; it has `{known}`"))
        };
        let arguments = tool
            .input_schema()
            .get("properties")
            .and_then(Value::as_object);
        if let (Some(more), Some(arguments)) = (&self.more, arguments)
            && !arguments.contains_key(more)
        {
            let known = similar(more, arguments.keys().map(String::as_str));
            let hint = hint(known.map(str::to_owned));
            let message = format!("`{member}:{name}` has no argument `{more}`{hint}");
            problems.push(ShapeProblem::More(message));
        }
        let Some(schema) = tool.unshaped_output_schema() else {
            return problems;
        };
        for (at, path) in self.take.iter().enumerate() {
            if let Err(known) = find(schema, &path.0) {
                let hint = hint(known.map(|path| path.to_string()));
                let message =
                    format!("`{path}` is not in the output schema of `{member}:{name}`{hint}");
                problems.push(ShapeProblem::Take(at, message));
            }
        }
        problems
    }

    /// Whether results that match an output schema may no longer match it.
    pub(crate) fn breaks(&self, schema: &Value) -> bool {
        !self.take.is_empty() || self.most.is_some_and(|most| needs_more(schema, most))
    }

    /// A result as clients get it. Errors and requests for input stay as they are.
    #[must_use]
    pub fn apply(&self, result: CallToolResult) -> CallToolResult {
        if result.is_error() || result.result_type() != "complete" {
            return result;
        }
        let mut json = result.into_json();
        let mut cut = Cut::default();
        let structured = json.get("structuredContent").cloned();
        if let Some(content) = json.get_mut("structuredContent") {
            self.reduce(content, &mut cut);
        }
        let shaped = json.get("structuredContent");
        let is_changed = shaped != structured.as_ref();
        let text = shaped.filter(|_| is_changed).map(Value::to_string);
        if let Some(Value::Array(blocks)) = json.get_mut("content") {
            if let Some(text) = text {
                replace_json(blocks, text);
            }
            for (at, block) in blocks.iter_mut().enumerate() {
                if block["type"] == "text"
                    && let Some(Value::String(text)) = block.get_mut("text")
                {
                    if structured.is_none() {
                        self.reduce_text(text, &mut cut);
                    }
                    self.shorten(text, at, &mut cut);
                }
            }
        }
        cut.note(&mut json, self.more.as_deref());
        CallToolResult::new(json)
    }

    fn reduce_text(&self, text: &mut String, cut: &mut Cut) {
        let Some(json) = as_json(text) else { return };
        let mut value = json.clone();
        self.reduce(&mut value, cut);
        if value != json {
            *text = value.to_string();
        }
    }

    /// Cuts a text, the content with this number.
    fn shorten(&self, text: &mut String, at: usize, cut: &mut Cut) {
        let Some(chars) = self.chars else {
            return;
        };
        let Some((end, _)) = text.char_indices().nth(chars) else {
            return;
        };
        let is_whole = text[end..].starts_with('\n');
        let line = text[..end]
            .rfind('\n')
            .filter(|line| *line > 0 && !is_whole);
        let end = line.unwrap_or(end);
        let count = text[end..].chars().count();
        text.truncate(end);
        cut.texts.push((at, count));
    }

    fn reduce(&self, value: &mut Value, cut: &mut Cut) {
        if !self.take.is_empty() && (value.is_object() || value.is_array()) {
            let paths: Vec<_> = self.take.iter().map(|path| &*path.0).collect();
            *value = taken(value.take(), &paths).unwrap_or_default();
        }
        if let Some(most) = self.most {
            shorten_lists(value, &mut String::new(), most, &mut cut.lists);
        }
    }
}

/// Replaces the texts that are JSON, which repeat the structured content or its parts, by one.
fn replace_json(blocks: &mut Vec<Value>, text: String) {
    let is_json = |block: &Value| {
        let text = block["text"].as_str().filter(|_| block["type"] == "text");
        text.is_some_and(|text| as_json(text).is_some())
    };
    let Some(first) = blocks.iter().position(is_json) else {
        return;
    };
    let mut number = 0;
    blocks.retain(|block| {
        number += 1;
        number - 1 == first || !is_json(block)
    });
    blocks[first]["text"] = text.into();
}

/// A text that is a JSON object or list.
fn as_json(text: &str) -> Option<Value> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

/// What these paths lead to. `None` if all paths go deeper than the value.
fn taken(value: Value, paths: &[&[String]]) -> Option<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        return Some(value);
    }
    let within = |key: &str, value: Value| {
        let paths: Vec<_> = paths
            .iter()
            .filter_map(|path| {
                let (first, rest) = path.split_first()?;
                (first == "*" || first == key).then_some(rest)
            })
            .collect();
        taken(value, &paths).filter(|_| !paths.is_empty())
    };
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter_map(|(key, value)| {
                let value = within(&key, value)?;
                Some((key, value))
            });
            Some(members.collect())
        }
        Value::Array(items) => {
            let items = items
                .into_iter()
                .enumerate()
                .filter_map(|(at, item)| within(&at.to_string(), item));
            Some(items.collect())
        }
        _ => None,
    }
}

/// Cuts each list after the first items. `pointer` leads to the value.
fn shorten_lists(value: &mut Value, pointer: &mut String, most: usize, cut: &mut CutLists) {
    let length = pointer.len();
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                pointer.push('/');
                pointer.push_str(&escape_pointer(key));
                shorten_lists(value, pointer, most, cut);
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            if items.len() > most {
                cut.add(pointer, most, items.len());
                items.truncate(most);
            }
            for (at, item) in items.iter_mut().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                shorten_lists(item, pointer, most, cut);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Whether a schema requires a list of more than `most` items.
fn needs_more(schema: &Value, most: usize) -> bool {
    let is_long = |value: &Value| has_longer_list(value, most);
    match schema {
        Value::Object(keywords) => keywords.iter().any(|(key, value)| match (&**key, value) {
            ("minItems", Value::Number(_)) => {
                value.as_u64().is_none_or(|least| least > most as u64)
            }
            // The item that it requires may be cut.
            ("contains", _) => true,
            ("const", _) => is_long(value),
            ("enum", Value::Array(values)) => values.iter().any(is_long),
            // The keys are names.
            (key, Value::Object(schemas))
                if MAP.contains(&key) || ["$defs", "definitions"].contains(&key) =>
            {
                schemas.values().any(|schema| needs_more(schema, most))
            }
            _ => needs_more(value, most),
        }),
        Value::Array(schemas) => schemas.iter().any(|schema| needs_more(schema, most)),
        _ => false,
    }
}

fn has_longer_list(value: &Value, most: usize) -> bool {
    match value {
        Value::Object(members) => members.values().any(|value| has_longer_list(value, most)),
        Value::Array(items) => {
            items.len() > most || items.iter().any(|item| has_longer_list(item, most))
        }
        _ => false,
    }
}

/// Whether a path can lead to something in values that match a schema. If not, the error is the path that is most likely meant.
fn find(root: &Value, path: &[String]) -> Result<(), Option<ShapePath>> {
    let mut schema = root;
    for (at, name) in path.iter().enumerate() {
        if let Some(target) = schema["$ref"].as_str() {
            let target = target.strip_prefix('#');
            schema = target.map_or(&Value::Null, |target| {
                root.pointer(target).unwrap_or(&Value::Null)
            });
        }
        let instead = |name: &str| {
            let mut path = path[..=at].to_vec();
            name.clone_into(&mut path[at]);
            ShapePath(path)
        };
        let is_item = name == "*" || name.parse::<usize>().is_ok();
        let members = schema["properties"].as_object();
        // Other schemas may allow any member.
        schema = match (schema["type"].as_str(), members) {
            (Some("array"), _) if is_item => &schema["items"],
            (Some("array"), _) => return Err(Some(instead("*"))),
            (Some("object"), Some(members)) if name != "*" => {
                let is_closed = schema["additionalProperties"] == false;
                let Some(member) = members.get(name) else {
                    if !is_closed || schema.get("patternProperties").is_some() {
                        return Ok(());
                    }
                    let known = similar(name, members.keys().map(String::as_str));
                    return Err(known.map(instead));
                };
                member
            }
            _ => return Ok(()),
        };
    }
    Ok(())
}

/// The lists that were cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CutLists {
    named: Vec<CutList>,
    /// How many more there are.
    others: usize,
}

/// A list that was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CutList {
    pointer: String,
    kept: usize,
    total: usize,
}

/// What was cut of a result.
#[derive(Debug, Default)]
struct Cut {
    lists: CutLists,
    /// The numbers of texts in the content, and of their characters that were cut.
    texts: Vec<(usize, usize)>,
}

impl CutLists {
    fn add(&mut self, pointer: &str, kept: usize, total: usize) {
        if self.named.len() < MAX_NAMED_LISTS && pointer.len() <= MAX_NAMED_POINTER {
            self.named.push(CutList {
                pointer: pointer.to_owned(),
                kept,
                total,
            });
        } else {
            self.others += 1;
        }
    }
}

impl Cut {
    /// Adds to a result what was cut.
    fn note(&self, result: &mut JsonObject, more: Option<&str>) {
        let lines = self.lines(more);
        if lines.is_empty() {
            return;
        }
        let block = json!({ "type": "text", "text": lines.join("\n") });
        let content = result.entry("content").or_insert_with(|| json!([]));
        if let Value::Array(blocks) = content {
            blocks.push(block);
        }
        let mut counts = JsonObject::new();
        let lists = self
            .lists
            .named
            .iter()
            .map(|list| (list.pointer.clone(), list.total - list.kept));
        let texts = self
            .texts
            .iter()
            .map(|(at, count)| (format!("/content/{at}/text"), *count));
        for (pointer, count) in lists.chain(texts) {
            let sum = counts.get(&pointer).and_then(Value::as_u64).unwrap_or(0);
            counts.insert(pointer, (sum + count as u64).into());
        }
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert(CUT.to_owned(), counts.into());
        }
    }

    fn lines(&self, more: Option<&str>) -> Vec<String> {
        let ask = more.map_or_else(
            || "ask for less".to_owned(),
            |more| format!("ask with \"{more}\" for more"),
        );
        let CutLists { named, others } = &self.lists;
        let shown = named.iter().take(MAX_LISTS_IN_TEXT);
        let mut lines: Vec<_> = shown.map(|list| format!("{list}; {ask}")).collect();
        match others + named.len().saturating_sub(MAX_LISTS_IN_TEXT) {
            0 => {}
            1 => lines.push("and 1 more list".to_owned()),
            others => lines.push(format!("and {} more lists", grouped(others))),
        }
        match self.texts.iter().map(|(_, count)| count).sum() {
            0 => {}
            1 => lines.push(format!("1 more character was cut; {ask}")),
            count => lines.push(format!(
                "{} more characters were cut; {ask}",
                grouped(count)
            )),
        }
        lines
    }
}

impl fmt::Display for CutList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = match &*self.pointer {
            "" => "the list",
            pointer => pointer,
        };
        let (kept, total) = (grouped(self.kept), grouped(self.total));
        write!(f, "{list} has {kept} of {total} items")
    }
}

/// A number with commas, such as `12,400`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
