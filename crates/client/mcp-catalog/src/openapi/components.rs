//! The schemas of the document.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    names::{Names, reference},
    results, schema,
};
use crate::{
    JsonObject,
    catalog::Schema,
    diagnostic::{Diagnostic, ItemKind, Severity, code},
};

/// `components`, item by item.
pub(super) struct Components {
    schemas: JsonObject,
    names: Names,
    /// The kinds of items whose results are in the document.
    results: HashSet<ItemKind>,
}

impl Default for Components {
    fn default() -> Self {
        let mut names = Names::default();
        for (_, name, _) in results::schemas() {
            names.take(name);
        }
        Self {
            schemas: JsonObject::new(),
            names,
            results: HashSet::new(),
        }
    }
}

impl Components {
    /// Adds the schema of the arguments of an item. Returns a reference to it, or to a schema that replaces it, and why.
    pub(super) fn input(
        &mut self,
        owner: &str,
        schema: &Schema,
        pointer: &str,
    ) -> (String, Option<Diagnostic>) {
        let open = (json!({ "type": "object" }), "any object");
        self.add_or_replace(&format!("{owner}_input"), schema, pointer, open)
    }

    /// Adds the schema of the structured content of a tool, as [`Components::input`] does.
    pub(super) fn output(&mut self, owner: &str, schema: &Schema) -> (String, Option<Diagnostic>) {
        let open = (json!({}), "any JSON");
        self.add_or_replace(&format!("{owner}_output"), schema, "/outputSchema", open)
    }

    /// Adds a schema, or one that accepts more, which is given with what it accepts.
    fn add_or_replace(
        &mut self,
        wanted: &str,
        schema: &Schema,
        pointer: &str,
        (open, accepted): (Value, &str),
    ) -> (String, Option<Diagnostic>) {
        match self.add(wanted, schema) {
            Ok(reference) => (reference, None),
            Err((name, why)) => {
                let problem = replaced(pointer, &why, accepted);
                (self.replace(name, open, why), Some(problem))
            }
        }
    }

    /// Adds the schemas of MCP's results for this kind of item.
    pub(super) fn result(&mut self, kind: ItemKind) {
        self.results.insert(kind);
    }

    /// Adds a schema with everything that it refers to. The error has the name that it was to have, and the reason.
    fn add(&mut self, wanted: &str, schema: &Schema) -> Result<String, (String, String)> {
        let name = self.names.add(wanted);
        let converted = match error_of(schema) {
            Some(error) => Err(error),
            None => schema::convert(&schema.json, &name, &mut self.names),
        };
        match converted {
            Ok(schemas) => self.schemas.extend(schemas),
            Err(why) => return Err((name, why)),
        }
        Ok(reference(&name))
    }

    /// Adds a schema that accepts more, with the reason.
    fn replace(&mut self, name: String, mut open: Value, why: String) -> String {
        open["x-mcp-schema-error"] = why.into();
        let reference = reference(&name);
        self.schemas.insert(name, open);
        reference
    }

    pub(super) fn finish(self) -> Value {
        let results = results::schemas()
            .into_iter()
            .filter(|(kind, ..)| kind.is_none_or(|kind| self.results.contains(&kind)))
            .map(|(_, name, schema)| (name.to_owned(), schema));
        let schemas: JsonObject = results.chain(self.schemas).collect();
        json!({ "schemas": schemas, "responses": results::responses() })
    }
}

/// Why a schema is not in the document.
fn error_of(schema: &Schema) -> Option<String> {
    let error = schema.error.clone()?;
    #[cfg(feature = "validate")]
    if schema.is_only_unbounded() {
        return None;
    }
    Some(error)
}

fn replaced(pointer: &str, why: &str, accepted: &str) -> Diagnostic {
    let problem = format!("{why}; the document accepts {accepted} there");
    Diagnostic::new(code::BAD_SCHEMA, Severity::Warning, pointer, problem)
}
