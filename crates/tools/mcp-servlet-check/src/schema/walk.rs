//! All schemas within a schema.

use mcp_servlet_schema::{LIST, MAP, SCHEMA, escape_pointer};
use serde_json::Value;

/// A schema within a schema, or the whole schema.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) schema: &'a Value,
    /// The JSON pointer to it from the root.
    pub(crate) pointer: String,
    pub(crate) role: Role<'a>,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role<'a> {
    /// The arguments or the result as a whole.
    Root,
    /// One argument, or one member of the result.
    Argument(&'a str),
    /// A member of a nested object.
    Property(&'a str),
    /// Anything else: items, branches, definitions.
    Other,
    /// A schema that applies only in some cases, and everything in it. Its description is elsewhere.
    Condition,
}

/// Keywords whose schemas apply only where a reference names them.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords whose schemas apply only in some cases, or exclude values.
const CONDITIONS: [&str; 5] = ["contains", "else", "if", "not", "then"];

/// The schema and all schemas in it, in order.
pub(crate) fn parts(schema: &Value) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    walk(schema, String::new(), Role::Root, &mut parts);
    parts
}

// Parsed JSON nests at most 128 levels deep.
fn walk<'a>(schema: &'a Value, pointer: String, role: Role<'a>, parts: &mut Vec<Part<'a>>) {
    parts.push(Part {
        schema,
        pointer: pointer.clone(),
        role,
    });
    for (key, value) in schema.as_object().into_iter().flatten() {
        let pointer = format!("{pointer}/{}", escape_pointer(key));
        let key = key.as_str();
        match value {
            Value::Array(list) if LIST.contains(&key) => {
                for (at, schema) in list.iter().enumerate() {
                    walk(
                        schema,
                        format!("{pointer}/{at}"),
                        role.below(key, ""),
                        parts,
                    );
                }
            }
            Value::Object(map) if MAP.contains(&key) || DEFINITIONS.contains(&key) => {
                for (name, schema) in map {
                    let pointer = format!("{pointer}/{}", escape_pointer(name));
                    walk(schema, pointer, role.below(key, name), parts);
                }
            }
            value if CONDITIONS.contains(&key) => walk(value, pointer, Role::Condition, parts),
            value if SCHEMA.contains(&key) => walk(value, pointer, role.below(key, ""), parts),
            _ => {}
        }
    }
}

impl<'a> Role<'a> {
    fn below(self, keyword: &str, name: &'a str) -> Self {
        match (keyword, self) {
            (_, Self::Condition) => Self::Condition,
            ("properties", Self::Root) => Self::Argument(name),
            ("properties", _) => Self::Property(name),
            _ => Self::Other,
        }
    }
}
