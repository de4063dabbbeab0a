//! The schemas of the document.

use serde_json::{Value, json};

use super::{
    names::{Names, reference},
    results, schema,
};
use crate::{
    JsonObject,
    catalog::{Schema, Tool},
    diagnostic::{Diagnostic, Severity, code},
};

/// `components`, tool by tool.
pub(super) struct Components {
    schemas: JsonObject,
    names: Names,
}

/// References to the schemas of a tool.
pub(super) struct ToolSchemas {
    pub(super) input: String,
    pub(super) output: Option<String>,
}

impl Default for Components {
    fn default() -> Self {
        let mut all = Self {
            schemas: JsonObject::new(),
            names: Names::default(),
        };
        for (name, schema) in results::schemas() {
            all.names.add(name);
            all.schemas.insert(name.to_owned(), schema);
        }
        all
    }
}

impl Components {
    /// Adds the schemas of a tool, and tells which of them had to be replaced.
    pub(super) fn tool(&mut self, name: &str, tool: &Tool) -> (ToolSchemas, Vec<Diagnostic>) {
        let mut problems = Vec::new();
        let input = self.add(&format!("{name}_input"), &tool.input);
        let input = input.unwrap_or_else(|(name, why)| {
            problems.push(replaced("/inputSchema", &why, "any object"));
            self.replace(name, json!({ "type": "object" }), why)
        });
        let output = tool.output.as_ref().map(|output| {
            let output = self.add(&format!("{name}_output"), output);
            output.unwrap_or_else(|(name, why)| {
                problems.push(replaced("/outputSchema", &why, "any JSON"));
                self.replace(name, json!({}), why)
            })
        });
        (ToolSchemas { input, output }, problems)
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
        json!({ "schemas": self.schemas, "responses": results::responses() })
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
