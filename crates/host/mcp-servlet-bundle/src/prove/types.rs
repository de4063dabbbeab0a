//! The types of the values that a schema accepts.

use std::{collections::BTreeSet, fmt};

use mcp_servlet_schema::referenced;
use serde_json::{Value, json};

/// The maximum number of parts of a schema that are looked at.
const MAX_PARTS: usize = 100;

/// The names of types, such as `string`.
#[derive(Debug)]
pub(super) struct Types<'s>(BTreeSet<&'s str>);

impl<'s> Types<'s> {
    /// The types of the values of a part of a schema; `None` if they are not known.
    pub(super) fn of(root: &'s Value, part: &'s Value) -> Option<Self> {
        let mut walk = Walk {
            root,
            left: MAX_PARTS,
            types: BTreeSet::new(),
        };
        walk.part(part)?;
        Some(Self(walk.types))
    }

    /// Whether a schema with the types `others` accepts all these types. Null counts as a value that is absent.
    pub(super) fn fit(&self, others: &Self) -> bool {
        self.0.iter().all(|name| {
            let is_number = *name == "integer" && others.0.contains("number");
            *name == "null" || is_number || others.0.contains(name)
        })
    }
}

impl fmt::Display for Types<'_> {
    /// As a schema: `{"type":"string"}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().collect();
        match names.as_slice() {
            [name] => json!({ "type": name }).fmt(f),
            names => json!({ "type": names }).fmt(f),
        }
    }
}

struct Walk<'s> {
    root: &'s Value,
    /// How many parts may still be looked at: schemas can refer to themselves.
    left: usize,
    types: BTreeSet<&'s str>,
}

impl<'s> Walk<'s> {
    /// Adds the types of a part of the schema. `None` if they are not known.
    fn part(&mut self, part: &'s Value) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if let Some(names) = part.get("type") {
            return self.names(names);
        }
        let mut variants = ["anyOf", "oneOf"].into_iter();
        if let Some(variants) = variants.find_map(|key| part.get(key)?.as_array()) {
            return variants.iter().try_for_each(|part| self.part(part));
        }
        let reference = part.get("$ref")?.as_str()?;
        self.part(referenced(self.root, reference)?)
    }

    /// Adds the value of the keyword `type`.
    fn names(&mut self, names: &'s Value) -> Option<()> {
        match names {
            Value::Array(names) => names.iter().try_for_each(|name| self.names(name)),
            name => {
                self.types.insert(name.as_str()?);
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_in_variants_and_behind_references() {
        let root = json!({ "$defs": {
            "text": { "type": "string" },
            "endless": { "$ref": "#/$defs/endless" },
        } });
        for (part, expected) in [
            (json!({ "type": "integer" }), Some(r#"{"type":"integer"}"#)),
            (
                json!({ "type": ["string", "null"] }),
                Some(r#"{"type":["null","string"]}"#),
            ),
            (
                json!({ "anyOf": [{ "$ref": "#/$defs/text" }, { "type": "null" }] }),
                Some(r#"{"type":["null","string"]}"#),
            ),
            (
                json!({ "$ref": "#/$defs/text", "type": "string" }),
                Some(r#"{"type":"string"}"#),
            ),
            (json!({ "$ref": "#/$defs/endless" }), None),
            (json!({ "$ref": "#/$defs/none" }), None),
            (json!({ "anyOf": [{ "type": "string" }, {}] }), None),
            (json!({ "enum": ["a"] }), None),
            (json!(true), None),
        ] {
            let types = Types::of(&root, &part).map(|types| types.to_string());
            assert_eq!(types.as_deref(), expected, "{part}");
        }
    }

    #[test]
    fn types_fit_if_all_of_them_are_accepted() {
        for (ours, theirs, fit) in [
            (json!("string"), json!("string"), true),
            (json!("integer"), json!("number"), true),
            (json!("number"), json!("integer"), false),
            (json!(["string", "null"]), json!("string"), true),
            (json!(["string", "integer"]), json!("string"), false),
            (json!("string"), json!(["string", "integer"]), true),
        ] {
            let [a, b] = [&ours, &theirs].map(|names| json!({ "type": names }));
            let types = |schema| Types::of(&Value::Null, schema).expect("types");
            assert_eq!(types(&a).fit(&types(&b)), fit, "{ours} for {theirs}");
        }
    }
}
