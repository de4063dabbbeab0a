//! Explains to a model what is wrong with a value: where, what the schema expects, and what was found.

use std::collections::HashSet;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use mcp_servlet_common::{escape_pointer, quoted};
use serde_json::Value;

/// The maximum size of a schema in a message, in bytes.
const MAX_SHOWN_SCHEMA: usize = 1000;

/// The maximum size of a wrong value in a message, in bytes.
const MAX_SHOWN_VALUE: usize = 60;

/// The maximum number of errors in a message.
const MISTAKES: usize = 5;

pub(super) struct Report<'a> {
    schema: &'a Value,
}

impl<'a> Report<'a> {
    pub(super) fn new(schema: &'a Value) -> Self {
        Self { schema }
    }

    pub(super) fn text<'e>(&self, errors: impl Iterator<Item = ValidationError<'e>>) -> String {
        let mut mistakes = Vec::new();
        for error in errors.take(MISTAKES) {
            self.collect(&error, &mut mistakes);
        }
        let mut seen = HashSet::new();
        mistakes.retain(|mistake| seen.insert(mistake.clone()));
        mistakes.join("; ")
    }

    fn collect(&self, error: &ValidationError<'_>, mistakes: &mut Vec<String>) {
        use ValidationErrorKind as Kind;
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                match matching_variant(context) {
                    Some(variant) => variant
                        .iter()
                        .for_each(|error| self.collect(error, mistakes)),
                    None => mistakes.push(self.mismatch(error, "")),
                }
            }
            Kind::Required { property } => {
                // A misspelled name explains a missing one.
                let others = self.others(error);
                if !others.is_empty() {
                    mistakes.extend(others.iter().map(|name| self.unknown(error, name)));
                    return;
                }
                let name = property.as_str().unwrap_or_default();
                let at = format!("{}/{}", error.instance_path(), escape_pointer(name));
                let schema = self
                    .part(error)
                    .and_then(|part| part.get("properties")?.get(name));
                mistakes.push(match schema {
                    Some(schema) => {
                        format!("`{at}` is missing; it must match {}", shown_schema(schema))
                    }
                    None => format!("`{at}` is missing"),
                });
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected.iter().take(MISTAKES) {
                    mistakes.push(self.unknown(error, name));
                }
            }
            Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. } => {
                mistakes.push(self.mismatch(error, ""));
            }
            _ => {
                let reason = error.masked_with("it").to_string();
                mistakes.push(self.mismatch(error, &format!(": {reason}")));
            }
        }
    }

    /// The schema that contains the keyword that failed.
    fn part(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let path = error.schema_path().as_str();
        let (parent, _) = path.rsplit_once('/')?;
        self.schema.pointer(parent)
    }

    /// Members of an object that its schema does not mention.
    fn others(&self, error: &ValidationError<'_>) -> Vec<String> {
        let Some(part) = self.part(error) else {
            return Vec::new();
        };
        let others = part.get("additionalProperties");
        if others.is_some_and(|others| *others != Value::Bool(false))
            || part.get("patternProperties").is_some()
        {
            return Vec::new();
        }
        let Some(known) = part.get("properties").and_then(Value::as_object) else {
            return Vec::new();
        };
        if is_partial(error.schema_path().as_str()) {
            return Vec::new();
        }
        let is_other = |name: &&String| !known.contains_key(*name);
        let members = error.instance().as_object().into_iter().flatten();
        let others = members.map(|(name, _)| name).filter(is_other);
        others.take(MISTAKES).cloned().collect()
    }

    fn mismatch(&self, error: &ValidationError<'_>, reason: &str) -> String {
        let at = match error.instance_path().as_str() {
            "" => "the object".to_owned(),
            path => format!("`{path}`"),
        };
        let schema = self
            .part(error)
            .map_or_else(|| "its schema".to_owned(), shown_schema);
        format!(
            "{at} must match {schema}, got {}{reason}",
            shown(error.instance())
        )
    }

    fn unknown(&self, error: &ValidationError<'_>, name: &str) -> String {
        let at = format!("{}/{}", error.instance_path(), escape_pointer(name));
        let known = self
            .part(error)
            .and_then(|part| part.get("properties")?.as_object());
        match quoted(known.into_iter().flatten().map(|(name, _)| name)) {
            none if none.is_empty() => format!("`{at}` is unknown"),
            known => format!("`{at}` is unknown; known are {known}"),
        }
    }
}

/// The variant that the arguments are probably for: the only one in which all types and fixed values match.
fn matching_variant<'a>(
    variants: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a Vec<ValidationError<'static>>> {
    let is_other = |error: &ValidationError<'_>| {
        matches!(
            error.kind(),
            ValidationErrorKind::Type { .. }
                | ValidationErrorKind::Enum { .. }
                | ValidationErrorKind::Constant { .. }
        )
    };
    let mut matching = variants
        .iter()
        .filter(|errors| !errors.iter().any(is_other));
    match (matching.next(), matching.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Whether the schema with this keyword is only a part of another schema, which may describe the
/// other members.
fn is_partial(path: &str) -> bool {
    let mut parts = path.rsplit('/').skip(1);
    let (last, before) = (parts.next(), parts.next());
    matches!(last, Some("then" | "else")) || matches!(before, Some("allOf" | "dependentSchemas"))
}

fn shown_schema(schema: &Value) -> String {
    let text = schema.to_string();
    if text.len() > MAX_SHOWN_SCHEMA {
        return "its schema".to_owned();
    }
    text
}

/// A value, or its type if it is long.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::Object(_) => return "an object".to_owned(),
        Value::Array(_) => return "an array".to_owned(),
        value => value.to_string(),
    };
    match value {
        Value::String(_) if text.len() > MAX_SHOWN_VALUE => "a long string".to_owned(),
        _ => text,
    }
}
