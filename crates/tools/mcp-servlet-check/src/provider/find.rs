//! The functions that look for violations of each rule.

use std::collections::BTreeSet;

use mcp_servlet_common::quoted;
use mcp_servlet_schema::{BOUNDS, GEMINI_KEYWORDS, MAX_DESCRIPTION, MAX_SAFE_INTEGER};
use serde_json::Value;

use super::{Problem, Subject};
use crate::schema::walk::{Part, Role, parts};

/// A problem of the tool as a whole or of one of its members.
fn of_tool(
    found: bool,
    pointer: &str,
    problem: impl FnOnce() -> String,
    help: &'static str,
) -> Vec<Problem> {
    let problem = found.then(|| Problem {
        pointer: pointer.to_owned(),
        text: problem(),
        help,
    });
    problem.into_iter().collect()
}

/// The problem of each part of the schema that has one.
fn of_parts(
    subject: &Subject<'_>,
    help: &'static str,
    problem: impl Fn(&Part<'_>) -> Option<String>,
) -> Vec<Problem> {
    let parts = parts(subject.schema);
    let problems = parts.iter().filter_map(|part| {
        let pointer = format!("/inputSchema{}", part.pointer);
        problem(part).map(|text| Problem {
            pointer,
            text,
            help,
        })
    });
    problems.collect()
}

/// Those of the keywords that the root has.
fn at_root<'a>(subject: &Subject<'_>, keywords: &[&'a str]) -> Vec<&'a str> {
    let has = |keyword: &&&str| subject.schema.get(**keyword).is_some();
    keywords.iter().filter(has).copied().collect()
}

pub(super) fn root_union(subject: &Subject<'_>) -> Vec<Problem> {
    root_keyword(subject, &["anyOf", "oneOf", "allOf"])
}

pub(super) fn root_combinator(subject: &Subject<'_>) -> Vec<Problem> {
    root_keyword(subject, &["anyOf", "oneOf", "allOf", "enum", "not"])
}

fn root_keyword(subject: &Subject<'_>, refused: &[&str]) -> Vec<Problem> {
    let found = at_root(subject, refused);
    let problem = || format!("{} at the root of the schema", quoted(&found));
    let help = "put the alternatives into a property, or name them in the description";
    of_tool(!found.is_empty(), "/inputSchema", problem, help)
}

pub(super) fn root_condition(subject: &Subject<'_>) -> Vec<Problem> {
    let found = at_root(subject, &["if", "then", "else"]);
    let problem = || format!("{} at the root of the schema", quoted(&found));
    of_tool(
        !found.is_empty(),
        "/inputSchema",
        problem,
        "state the condition in the description",
    )
}

pub(super) fn property_name(subject: &Subject<'_>) -> Vec<Problem> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    of_parts(
        subject,
        "rename the property to at most 64 letters, digits, `_`, `.` and `-`",
        |part| match part.role {
            Role::Argument(name) | Role::Property(name) => {
                let is_right = (1..=64).contains(&name.len()) && name.chars().all(is_plain);
                (!is_right).then(|| "the name of the property is refused".to_owned())
            }
            _ => None,
        },
    )
}

pub(super) fn integer_bound(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(
        subject,
        "use bounds from -2^53 to 2^53, or a string",
        |part| {
            let beyond = BOUNDS.iter().find(|key| {
                let bound = part.schema[**key].as_f64();
                bound.is_some_and(|bound| bound.abs() > MAX_SAFE_INTEGER)
            });
            beyond.map(|key| format!("`{key}` is beyond 2^53"))
        },
    )
}

pub(super) fn reference(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(subject, "inline the schema", |part| {
        part.schema
            .get("$ref")
            .map(|_| "`$ref` is refused".to_owned())
    })
}

pub(super) fn items(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(subject, "add `items`", |part| {
        let lacks = has_type(part.schema, "array") && !part.schema["items"].is_object();
        let what = if part.schema.get("prefixItems").is_some() || part.schema["items"].is_array() {
            "a tuple without a common `items`"
        } else {
            "an array without `items`"
        };
        lacks.then(|| what.to_owned())
    })
}

pub(super) fn description_over_1024(subject: &Subject<'_>) -> Vec<Problem> {
    description_over(subject, MAX_DESCRIPTION)
}

pub(super) fn description_over_2048(subject: &Subject<'_>) -> Vec<Problem> {
    description_over(subject, 2048)
}

fn description_over(subject: &Subject<'_>, most: usize) -> Vec<Problem> {
    let length = subject
        .tool
        .text("description")
        .unwrap_or_default()
        .chars()
        .count();
    let problem = || format!("the description has {length} characters, the limit is {most}");
    of_tool(
        length > most,
        "/description",
        problem,
        "shorten it; details belong in the descriptions of arguments",
    )
}

pub(super) fn tool_name(subject: &Subject<'_>) -> Vec<Problem> {
    let name = subject.tool.text("name").unwrap_or_default();
    let is_plain = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    let odd = name.chars().find(|one| !is_plain(one));
    let length = name.chars().count();
    let problem = || match odd {
        Some(odd) => format!("`{}` in the name of a tool is refused", odd.escape_debug()),
        None => format!("the name has {length} characters, the limit is 64"),
    };
    of_tool(
        odd.is_some() || length > 64,
        "/name",
        problem,
        "use at most 64 letters, digits, `_` and `-`",
    )
}

pub(super) fn gemini_name(subject: &Subject<'_>) -> Vec<Problem> {
    let name = subject.tool.text("name").unwrap_or_default();
    let starts_right = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let problem = || "the name does not start with a letter or `_`".to_owned();
    of_tool(
        !starts_right && !name.is_empty(),
        "/name",
        problem,
        "start it with a letter",
    )
}

/// Claude Code calls a tool by the names of server and tool together.
pub(super) fn claude_name(subject: &Subject<'_>) -> Vec<Problem> {
    let tool = subject.tool.text("name").unwrap_or_default();
    let name = format!("mcp__{}__{tool}", subject.servlet);
    let length = name.chars().count();
    let problem = || format!("`{name}` has {length} characters, the limit is 128");
    of_tool(
        length > 128,
        "/name",
        problem,
        "shorten it, or the name of the server",
    )
}

/// Cursor puts a separator between the two names.
pub(super) fn cursor_name(subject: &Subject<'_>) -> Vec<Problem> {
    let name = subject.tool.text("name").unwrap_or_default();
    let length = subject.servlet.chars().count() + 1 + name.chars().count();
    let problem = || {
        format!(
            "`{}:{name}` has {length} characters, the limit is 60",
            subject.servlet
        )
    };
    of_tool(
        length > 60,
        "/name",
        problem,
        "shorten it, or the name of the server",
    )
}

pub(super) fn over_128_tools(subject: &Subject<'_>) -> Vec<Problem> {
    let problem = || format!("{} tools; OpenAI takes 128 in one request", subject.count);
    let help = "list fewer tools, or use `search` at an endpoint of `servlet serve`";
    of_tool(subject.index == 128, "", problem, help)
}

pub(super) fn tool_count(subject: &Subject<'_>) -> Vec<Problem> {
    let problem = || "this is the 41st tool, and only 40 are sent".to_owned();
    let help = "choose the tools that a server shows with `only` in `servlet.toml`";
    of_tool(subject.index == 40, "", problem, help)
}

pub(super) fn type_list(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(
        subject,
        "give one type; leave an optional property out of `required`",
        |part| {
            part.schema["type"]
                .is_array()
                .then(|| "a list of types".to_owned())
        },
    )
}

pub(super) fn enum_values(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(
        subject,
        "list at least one string, or give the values in the description",
        |part| {
            let values = part.schema["enum"].as_array()?;
            if values.is_empty() {
                return Some("the enum is empty".to_owned());
            }
            let all_are_strings = values.iter().all(Value::is_string);
            (!all_are_strings).then(|| "the enum has other values than strings".to_owned())
        },
    )
}

pub(super) fn gemini_keyword(subject: &Subject<'_>) -> Vec<Problem> {
    let mut found = BTreeSet::new();
    for part in parts(subject.schema) {
        let keys = part
            .schema
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key);
        found.extend(
            keys.filter(|key| !GEMINI_KEYWORDS.contains(&key.as_str()))
                .cloned(),
        );
    }
    // `$ref` has its own rule.
    found.remove("$ref");
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    let problem = || format!("{} in the schema", quoted(&found));
    of_tool(
        !found.is_empty(),
        "/inputSchema",
        problem,
        "`servlet serve --schemas-for gemini` leaves them out",
    )
}

pub(super) fn gemini_format(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(
        subject,
        "`servlet serve --schemas-for gemini` leaves it out",
        |part| {
            let format = part.schema["format"].as_str()?;
            let is_known =
                !has_type(part.schema, "string") || matches!(format, "enum" | "date-time");
            (!is_known).then(|| format!("the format `{format}` of a string"))
        },
    )
}

pub(super) fn strict_object(subject: &Subject<'_>) -> Vec<Problem> {
    of_parts(
        subject,
        "`servlet serve --schemas-for openai` closes objects and requires all properties",
        |part| {
            if !has_type(part.schema, "object") {
                return None;
            }
            if part.schema["additionalProperties"] != Value::Bool(false) {
                return Some("strict mode: the object accepts additional properties".to_owned());
            }
            let required = part.schema["required"].as_array().map_or(0, Vec::len);
            let properties = part.schema["properties"]
                .as_object()
                .map_or(0, serde_json::Map::len);
            (required < properties)
                .then(|| "strict mode: the object has optional properties".to_owned())
        },
    )
}

fn has_type(schema: &Value, ty: &str) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == ty),
        one => one == ty,
    }
}
