//! Checks schemas, offline and within limits.

use mcp_servlet_schema::{Problem, Validator, is_well_formed, unchecked};
use serde_json::Value;

use crate::{
    catalog::{Catalog, Detail, Schema},
    diagnostic::{Diagnostic, Severity, code},
};

/// How many regular expressions are compiled for one catalog. Each may take some milliseconds.
const MAX_PATTERNS: usize = 5_000;

impl Catalog {
    /// Compiles all schemas. A schema that cannot be used to check values gets an [`error`](Schema::error),
    /// and the catalog a diagnostic.
    ///
    /// Nothing is fetched. Schemas that could take very long to apply get an error, too.
    pub fn check_schemas(&mut self) {
        let mut patterns_left = MAX_PATTERNS;
        for (index, item) in self.items.iter_mut().enumerate() {
            let key = item.to_key(index);
            for (member, schema) in schemas(&mut item.detail) {
                let Some(Problem { at, message }) = check_schema(schema, &mut patterns_left) else {
                    continue;
                };
                let pointer = format!("{member}{at}");
                let problem = Diagnostic::new(code::BAD_SCHEMA, Severity::Error, pointer, message);
                self.diagnostics.push(problem.of_item(key.clone()));
            }
        }
    }
}

impl Schema {
    /// Compiles the schema, in the dialect that its `$schema` names, or else 2020-12.
    ///
    /// Compiling takes longer than checking a value, so keep the result.
    ///
    /// # Errors
    /// [`Problem`] if the schema is not valid, refers to other documents, or could take very long to
    /// apply.
    pub fn validator(&self) -> Result<Validator, Problem> {
        let mut patterns_left = MAX_PATTERNS;
        self.compile(&mut patterns_left)
    }

    /// Whether the only error of the schema is that it could take very long to apply.
    pub(crate) fn is_only_unbounded(&self) -> bool {
        unchecked(&self.json).is_some() && is_well_formed(&self.json)
    }

    fn compile(&self, patterns_left: &mut usize) -> Result<Validator, Problem> {
        let problem = match &self.error {
            Some(error) if self.json.is_null() => error.clone(),
            _ => match patterns_left.checked_sub(patterns(&self.json)) {
                Some(left) => {
                    *patterns_left = left;
                    return Validator::new(&self.json);
                }
                None => format!("was not checked: a catalog may have {MAX_PATTERNS} patterns"),
            },
        };
        Err(Problem::new("", problem))
    }
}

/// The schemas of an item, each with its pointer in the entry.
fn schemas(detail: &mut Detail) -> impl Iterator<Item = (&'static str, &mut Schema)> {
    let (input, output) = match detail {
        Detail::Tool(tool) => (
            Some(("/inputSchema", &mut tool.input)),
            tool.output.as_mut(),
        ),
        Detail::Prompt(prompt) => (Some(("/arguments", &mut prompt.input)), None),
        Detail::Resource(_) | Detail::ResourceTemplate(_) => (None, None),
    };
    input
        .into_iter()
        .chain(output.map(|output| ("/outputSchema", output)))
}

/// Sets the error of a schema that has none yet.
fn check_schema(schema: &mut Schema, patterns_left: &mut usize) -> Option<Problem> {
    if schema.error.is_some() {
        return None;
    }
    let problem = schema.compile(patterns_left).err()?;
    schema.error = Some(problem.to_string());
    Some(problem)
}

/// The number of regular expressions in a schema.
fn patterns(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(patterns).sum(),
        Value::Object(members) => {
            let own = members.iter().map(|(name, value)| match (&**name, value) {
                ("pattern", Value::String(_)) => 1,
                ("patternProperties", Value::Object(properties)) => properties.len(),
                _ => 0,
            });
            own.chain(members.values().map(patterns)).sum()
        }
        _ => 0,
    }
}
