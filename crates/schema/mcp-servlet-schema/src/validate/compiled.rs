//! A schema that is compiled when it is first applied, if its shape alone shows that it is valid.

use std::sync::OnceLock;

use jsonschema::{
    Draft, PatternOptions, ReferencingError, ValidationError, ValidationOptions, Validator,
    error::ValidationErrorKind,
};
use serde_json::Value;

use super::plain::is_plain;
use crate::problem::Problem;

/// How many steps a regular expression may backtrack. A step takes about ten nanoseconds.
const MAX_BACKTRACKING: usize = 100_000;

/// The maximum size of a compiled regular expression in bytes.
const MAX_EXPRESSION: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Compiled {
    schema: Value,
    validator: OnceLock<Validator>,
}

impl Compiled {
    /// # Errors
    /// [`Problem`] if it is not a JSON Schema.
    pub(super) fn new(schema: &Value) -> Result<Self, Problem> {
        let validator = if is_plain(schema) {
            OnceLock::new()
        } else {
            compile(schema)?.into()
        };
        Ok(Self {
            schema: schema.clone(),
            validator,
        })
    }

    /// With regular expressions that take linear time.
    ///
    /// # Errors
    /// [`Problem`] if it is not a JSON Schema, or has an expression that needs backtracking.
    pub(super) fn linear(schema: &Value) -> Result<Self, Problem> {
        let expressions = PatternOptions::regex()
            .size_limit(MAX_EXPRESSION)
            .dfa_size_limit(MAX_EXPRESSION);
        let options = jsonschema::options()
            .offline()
            .with_pattern_options(expressions)
            .with_draft(Draft::Draft202012);
        Ok(Self {
            schema: schema.clone(),
            validator: build(&options, schema)?.into(),
        })
    }

    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    pub(super) fn validator(&self) -> &Validator {
        self.validator
            .get_or_init(|| compile(&self.schema).expect("a plain schema is valid"))
    }
}

/// Compiles a schema in the dialect that its `$schema` names, or else 2020-12.
fn compile(schema: &Value) -> Result<Validator, Problem> {
    let expressions = PatternOptions::fancy_regex()
        .backtrack_limit(MAX_BACKTRACKING)
        .size_limit(MAX_EXPRESSION)
        .dfa_size_limit(MAX_EXPRESSION);
    let options = jsonschema::options()
        .offline()
        .with_pattern_options(expressions);
    let options = match schema.get("$schema") {
        None => options.with_draft(Draft::Draft202012),
        Some(_) => options,
    };
    build(&options, schema)
}

fn build(options: &ValidationOptions<'_>, schema: &Value) -> Result<Validator, Problem> {
    options
        .build(schema)
        .map_err(|error| Problem::new(error.instance_path().to_string(), message(&error)))
}

fn message(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::UnknownSpecification {
            specification,
        }) => format!(
            "unknown `$schema` `{specification}`; expected a published version such as \
             `https://json-schema.org/draft/2020-12/schema`, or none"
        ),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
