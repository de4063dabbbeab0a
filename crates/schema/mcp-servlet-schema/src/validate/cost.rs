//! Estimates the work that a schema causes, without applying it.

use mcp_servlet_common::escape_pointer;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::{
    keywords::{LIST, MAP, SCHEMA},
    problem::Problem,
};

/// The maximum depth of a schema, including its references.
const MAX_DEPTH: usize = 200;

/// How many parts of a schema may apply to one part of a value.
const MAX_COST: u64 = 10_000;

/// Keywords that apply several schemas to the same value. Recursion through them can take exponential time.
const BRANCHES: [&str; 9] = [
    "allOf",
    "anyOf",
    "contains",
    "dependencies",
    "dependentSchemas",
    "if",
    "not",
    "oneOf",
    "patternProperties",
];

/// The cost of a schema.
pub(super) enum Cost {
    /// At most this many parts of the schema apply to one part of a value.
    Bounded(u64),
    /// There is no limit, for this reason.
    Unbounded(&'static str),
    /// The schema is not valid: a JSON pointer and the problem.
    Wrong(Problem),
}

impl Cost {
    /// The cost of a schema that has this one as a part. Pointers begin with `/` when they are complete.
    fn below(self, name: &str) -> Self {
        match self {
            Self::Wrong(problem) if !problem.at.starts_with('/') => {
                Self::Wrong(problem.within(&format!("{}/", escape_pointer(name))))
            }
            other => other,
        }
    }

    /// The cost of a schema that refers to this one at a pointer.
    fn at(self, pointer: &str) -> Self {
        match self {
            Self::Wrong(problem) if !problem.at.starts_with('/') => {
                Self::Wrong(problem.within(&format!("{pointer}/")))
            }
            other => other,
        }
    }
}

/// Whether a schema refers to itself.
pub fn refers_to_itself(schema: &Value) -> bool {
    let mut walk = Walk::new(schema);
    // If the walk stops early, only the references up to that point count.
    let _ = walk.schema(schema, 0);
    walk.recursive
}

/// Walks through a schema as if each reference were replaced by its target.
pub(super) fn cost_of(schema: &Value) -> Cost {
    let mut walk = Walk::new(schema);
    match walk.schema(schema, 0) {
        Err(cost) => cost.at(""),
        Ok(()) if walk.recursive && walk.branches => {
            Cost::Unbounded("it refers to itself in several ways at once")
        }
        Ok(()) => Cost::Bounded(walk.spent),
    }
}

/// The part of a schema that a reference such as `#/$defs/a` leads to; `None` if there is none, or if
/// the reference is not a JSON pointer.
pub fn referenced<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&decoded(reference.strip_prefix('#')?))
}

/// The JSON pointer of a reference, in which characters are percent-encoded.
fn decoded(pointer: &str) -> String {
    percent_decode_str(pointer).decode_utf8_lossy().into_owned()
}

struct Walk<'a> {
    root: &'a Value,
    /// The references on the way to the current schema.
    path: Vec<&'a str>,
    spent: u64,
    recursive: bool,
    branches: bool,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            path: Vec::new(),
            spent: 0,
            recursive: false,
            branches: false,
        }
    }

    fn schema(&mut self, schema: &'a Value, depth: usize) -> Result<(), Cost> {
        self.spent += 1;
        if self.spent > MAX_COST {
            return Err(Cost::Unbounded("too many of its parts apply at once"));
        }
        if depth > MAX_DEPTH {
            return Err(Cost::Unbounded("it nests too deeply"));
        }
        let Value::Object(keywords) = schema else {
            // Booleans are schemas. Anything else is an error that the schema compiler reports.
            return Ok(());
        };
        self.branches |= BRANCHES.iter().any(|key| keywords.contains_key(*key));
        if keywords.contains_key("$dynamicRef") || keywords.contains_key("$recursiveRef") {
            return Err(Cost::Unbounded("its references depend on the value"));
        }
        self.reference(keywords, depth)?;
        self.below(keywords, depth)
    }

    fn reference(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Result<(), Cost> {
        let Some(Value::String(reference)) = keywords.get("$ref") else {
            return Ok(());
        };
        // Keywords next to a reference apply to the same value.
        self.branches |= keywords
            .keys()
            .any(|key| MAP.contains(&key.as_str()) || LIST.contains(&key.as_str()));
        if self.path.contains(&reference.as_str()) {
            self.recursive = true;
            return Ok(());
        }
        let Some(pointer) = reference.strip_prefix('#') else {
            if reference.contains("://") {
                let problem = format!("`{reference}` is in another document, which is not fetched");
                return Err(Cost::Wrong(Problem::new("$ref", problem)));
            }
            return Err(Cost::Unbounded("its references have names of their own"));
        };
        let pointer = decoded(pointer);
        match self.root.pointer(&pointer) {
            Some(target) => {
                self.path.push(reference);
                let cost = self.schema(target, depth + 1);
                self.path.pop();
                cost.map_err(|cost| cost.at(&pointer))
            }
            None if pointer.starts_with('/') => Err(Cost::Unbounded("a reference has no target")),
            None => Err(Cost::Unbounded("its references have names of their own")),
        }
    }

    fn below(&mut self, keywords: &'a Map<String, Value>, depth: usize) -> Result<(), Cost> {
        for (key, value) in keywords {
            let key = key.as_str();
            match value {
                Value::Array(list) if LIST.contains(&key) => {
                    for (index, schema) in list.iter().enumerate() {
                        let cost = self.schema(schema, depth + 1);
                        cost.map_err(|cost| cost.below(&index.to_string()).below(key))?;
                    }
                }
                Value::Object(map) if MAP.contains(&key) => {
                    for (name, schema) in map {
                        let cost = self.schema(schema, depth + 1);
                        cost.map_err(|cost| cost.below(name).below(key))?;
                    }
                }
                value if SCHEMA.contains(&key) => {
                    let cost = self.schema(value, depth + 1);
                    cost.map_err(|cost| cost.below(key))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
