//! Configuration as a struct. One error lists every key that is missing or invalid.

use mcp_servlet_json::{ObjectWriter, Reader, write_raw, write_string};
use serde::de::DeserializeOwned;

use super::Context;
use crate::answer::error::Fault;
use crate::json::member;
use crate::schema::{Kind, Node, Object, Property, Schema};

impl Context {
    /// The servlet's configuration: one key for each field of `T`, as in `T`'s schema.
    ///
    /// A string is passed unchanged, any other type is read as JSON. Errors do not repeat values, as they may be
    /// secrets. Hosts do not pass a configuration when they ask the servlet to describe itself, so call this in a
    /// tool.
    ///
    /// ```
    /// use mcp_servlet::prelude::*;
    ///
    /// #[derive(Deserialize, Schema)]
    /// #[serde(rename_all = "kebab-case")]
    /// struct Settings {
    ///     /// the key of the weather service
    ///     api_key: String,
    ///     retries: Option<u8>,
    /// }
    ///
    /// /// Tells the weather.
    /// #[tool]
    /// fn weather(context: &Context, city: String) -> Result<String, ToolError> {
    ///     let settings: Settings = context.config()?;
    ///     Ok(format!("{city}: asked up to {} times", settings.retries.unwrap_or(1)))
    /// }
    /// # let error = weather(&Context::default(), String::new()).unwrap_err();
    /// # assert_eq!(error.message(), "the servlet is not configured: `api-key` is not set");
    /// ```
    ///
    /// # Errors
    ///
    /// A [`Fault`] that names every key that is missing or invalid, since the model cannot fix the
    /// configuration.
    pub fn config<T: Schema + DeserializeOwned>(&self) -> Result<T, Fault> {
        let json = self.config_json(const { config_node::<T>() })?;
        mcp_servlet_json::from_str(&json).map_err(|error| {
            let mut message = String::from("the servlet is not configured: ");
            match &*error.pointer(&json) {
                "" => write_raw(&mut message, "it"),
                pointer => {
                    for part in ["`", pointer, "`"] {
                        write_raw(&mut message, part);
                    }
                }
            }
            write_raw(&mut message, " does not fit");
            Fault::internal(message)
        })
    }

    /// All configured keys of the object as one JSON object.
    fn config_json(&self, node: &Node) -> Result<String, Fault> {
        let mut found = Found::default();
        if let Kind::Object(object) = &node.kind {
            found.collect(object, object.partial, &|key| self.config_value(key));
        }
        if found.problems.is_empty() {
            return Ok(found.json.finish());
        }
        let mut message = String::from("the servlet is not configured: ");
        write_raw(&mut message, &found.problems);
        Err(Fault::internal(message))
    }
}

/// The configuration found, and its errors.
#[derive(Default)]
struct Found {
    json: ObjectWriter,
    problems: String,
}

impl Found {
    fn collect(&mut self, object: &Object, partial: bool, get: &dyn Fn(&str) -> Option<String>) {
        for property in object
            .properties
            .iter()
            .filter(|property| property.in_input)
        {
            match get(property.name) {
                Some(text) => self.value(property, &text),
                None if property.required && !partial => self.problem(property.name, "is not set"),
                None => {}
            }
        }
        for node in object.flattened {
            if let Kind::Object(inner) = &node.kind {
                self.collect(inner, partial || inner.partial, get);
            }
        }
    }

    fn value(&mut self, property: &Property, text: &str) {
        match value(&property.node.kind, text) {
            Ok(json) => self.json.json(property.name, &json),
            Err(rule) => self.problem(property.name, &rule),
        }
    }

    fn problem(&mut self, name: &str, what: &str) {
        let start = if self.problems.is_empty() { "`" } else { "; `" };
        for part in [start, name, "` ", what] {
            write_raw(&mut self.problems, part);
        }
    }
}

/// The JSON of a configured string, or what was expected.
fn value(kind: &Kind, text: &str) -> Result<String, String> {
    let json = text.trim();
    let fits = match kind {
        Kind::String { .. } => return Ok(quoted(text)),
        Kind::Character if text.chars().count() == 1 => return Ok(quoted(text)),
        Kind::Enum { values, .. } if values.contains(&text) => return Ok(quoted(text)),
        Kind::Raw(_) | Kind::AnyOf { .. } if is_text(kind) => return Ok(quoted(text)),
        Kind::Boolean => matches!(json, "true" | "false"),
        Kind::Null => json == "null",
        Kind::Integer { min, max } => is_integer(json, *min, *max),
        Kind::Number => is(json, |first| first == b'-' || first.is_ascii_digit()),
        Kind::Array { .. } => is(json, |first| first == b'['),
        Kind::Map { .. } | Kind::Object(_) | Kind::AnyOf { object: true, .. } => {
            is(json, |first| first == b'{')
        }
        Kind::Character | Kind::Enum { .. } => false,
        // These schemas may allow a string, so text that is not JSON is passed as one.
        Kind::Any | Kind::AnyOf { .. } | Kind::Raw(_) | Kind::Generated(_)
            if !is(json, |_| true) =>
        {
            return Ok(quoted(text));
        }
        Kind::Any | Kind::AnyOf { .. } | Kind::Raw(_) | Kind::Generated(_) => true,
    };
    if fits {
        Ok(json.to_owned())
    } else {
        Err(rule(kind))
    }
}

/// Whether all values are strings, as [`Node::is_text`] says. The code of that function, which is for `const` evaluation,
/// would make the wasm larger.
fn is_text(kind: &Kind) -> bool {
    match kind {
        Kind::String { .. } | Kind::Character | Kind::Enum { .. } => true,
        Kind::Raw(json) => member(json, "type") == "\"string\"",
        Kind::AnyOf {
            variants,
            object: false,
        } => variants.iter().all(|variant| is_text(&variant.kind)),
        _ => false,
    }
}

fn rule(kind: &Kind) -> String {
    let what = match kind {
        Kind::Boolean => "must be `true` or `false`",
        Kind::Null => "must be `null`",
        Kind::Integer { min, max } => return integer_rule(*min, *max),
        Kind::Number => "must be a number",
        Kind::Array { .. } => "must be a JSON array",
        Kind::Character => "must be one character",
        Kind::Enum { values, .. } => {
            let mut rule = String::from("must be one of");
            for (index, value) in values.iter().enumerate() {
                rule.push_str(if index == 0 { " `" } else { ", `" });
                rule.push_str(value);
                rule.push('`');
            }
            return rule;
        }
        _ => "must be a JSON object",
    };
    what.to_owned()
}

fn integer_rule(min: Option<i64>, max: Option<i64>) -> String {
    let mut rule = String::from("must be an integer");
    for (words, bound) in [(" from ", min), (" to ", max)] {
        if let Some(bound) = bound {
            rule.push_str(words);
            mcp_servlet_json::write_i64(&mut rule, bound);
        }
    }
    rule
}

fn is_integer(json: &str, min: Option<i64>, max: Option<i64>) -> bool {
    if !is(json, |first| first == b'-' || first.is_ascii_digit()) {
        return false;
    }
    if let Ok(number) = Reader::from(json).signed() {
        return min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
    }
    // A number that needs 64 bits is a `u64`, whose schema has no maximum.
    let is_natural = min.is_some_and(|min| min >= 0);
    is_natural && max.is_none() && Reader::from(json).unsigned().is_ok()
}

/// Whether it is one JSON value with such a first byte.
fn is(json: &str, begins: fn(u8) -> bool) -> bool {
    let mut reader = Reader::from(json);
    json.bytes().next().is_some_and(begins) && reader.skip().is_ok() && reader.finish().is_ok()
}

fn quoted(text: &str) -> String {
    let mut json = String::new();
    write_string(&mut json, text);
    json
}

/// The schema of a type that [`Context::config`] reads.
pub const fn config_node<T: Schema + DeserializeOwned>() -> &'static Node {
    T::NODE
}
