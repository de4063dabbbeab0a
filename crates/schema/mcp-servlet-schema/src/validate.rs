//! Checks arguments and results against the schemas of a tool, within limits.
//!
//! Schemas come from servlets and values from clients, so neither is trusted. Nothing is fetched.
//! Regular expressions stop backtracking at a limit. The number of steps of a check is estimated
//! before it runs.

pub(crate) mod coerce;
mod compiled;
mod cost;
pub(crate) mod example;
mod inexact;
mod plain;
mod report;
mod unknown;

use std::{borrow::Cow, collections::HashSet};

use serde_json::Value;

use crate::{JsonObject, problem::Problem};
use compiled::Compiled;
use cost::{Cost, cost_of};
pub use cost::{referenced, refers_to_itself};
use example::example_of;
use report::Report;

/// How often one check may apply parts of a schema to parts of a value; about a second of work.
const MAX_STEPS: u64 = 20_000_000;

/// A check with more steps than this takes some milliseconds, so it should not run on an async task.
const MANY_STEPS: u64 = 50_000;

/// The schemas of a tool.
#[derive(Debug)]
pub struct Schemas {
    arguments: Option<Checker>,
    results: Option<Checker>,
    /// Whether the tool has an output schema, even one that is not checked.
    has_output_schema: bool,
    /// The names of the arguments; `None` if the schema accepts any name.
    known: Option<HashSet<String>>,
}

/// A schema that can be applied within the limits.
#[derive(Debug)]
struct Checker {
    schema: Compiled,
    /// How many parts of the schema apply to one part of a value, at most.
    cost: u64,
}

/// Why a schema cannot be used.
enum Uncheckable {
    /// It is not valid.
    Wrong(Problem),
    /// It cannot be applied within the limits, for this reason.
    Unbounded(&'static str),
}

impl Uncheckable {
    fn into_problem(self) -> Problem {
        match self {
            Self::Wrong(problem) => problem,
            Self::Unbounded(why) => {
                Problem::new("", format!("cannot be applied within the limits: {why}"))
            }
        }
    }
}

/// Whether a value matches a schema. True if the schema cannot be applied within the limits.
pub fn matches(schema: &Value, value: &Value) -> bool {
    match Checker::new(schema) {
        Ok(checker) => checker.can_check(value) && checker.validator().is_valid(value),
        Err(_) => true,
    }
}

/// A value that matches a schema, if one is easy to make.
pub fn example(schema: &Value) -> Option<Value> {
    Checker::new(schema).ok()?.example()
}

/// Why values are not checked against a schema, although it is valid: a check might never end, or a reference has no
/// target.
pub fn unchecked(schema: &Value) -> Option<&'static str> {
    match cost_of(schema) {
        Cost::Unbounded(why) => Some(why),
        Cost::Bounded(_) | Cost::Wrong(_) => None,
    }
}

/// Whether a schema matches the meta-schema of its dialect. Regular expressions and references are not checked.
pub fn is_well_formed(schema: &Value) -> bool {
    jsonschema::meta::validate(schema).is_ok()
}

/// A compiled schema of any origin.
///
/// ```
/// use mcp_servlet_schema::Validator;
/// use serde_json::json;
///
/// let validator = Validator::new(&json!({ "type": "object", "required": ["city"] })).unwrap();
/// assert!(validator.check_value(&json!({ "city": "Oslo" })).is_ok());
/// assert_eq!(validator.check_value(&json!({})).unwrap_err(), "`/city` is missing");
/// ```
#[derive(Debug)]
pub struct Validator(Checker);

impl Validator {
    /// Compiles a schema in the dialect that its `$schema` names, or else 2020-12. Nothing is fetched.
    ///
    /// # Errors
    /// [`Problem`] if it is not a JSON Schema, refers to another document, or could take very long to
    /// apply to some value.
    pub fn new(schema: &Value) -> Result<Self, Problem> {
        let checker = Checker::new(schema);
        checker.map(Self).map_err(Uncheckable::into_problem)
    }

    /// Compiles a schema whose regular expressions take linear time, such as one that decides on access.
    ///
    /// # Errors
    /// As [`new`](Self::new), or if an expression needs backtracking.
    pub fn linear(schema: &Value) -> Result<Self, Problem> {
        let checker = Checker::with(schema, Compiled::linear);
        checker.map(Self).map_err(Uncheckable::into_problem)
    }

    /// Whether a value matches as it is: `null` for a member that may be absent does not. None if the value is too large to
    /// be checked.
    pub fn accepts(&self, value: &Value) -> Option<bool> {
        let Self(checker) = self;
        let can_check = checker.can_check(value);
        can_check.then(|| checker.validator().is_valid(value))
    }

    /// The most steps that a check of this value can take. Each step applies one part of the schema to one part of the value.
    pub fn steps(&self, value: &Value) -> u64 {
        self.0.steps(value)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What does not match, each with its JSON pointer; or that the value is too large to be checked.
    pub fn check_value(&self, value: &Value) -> Result<(), String> {
        self.0.check_value(value)
    }

    /// The JSON pointer of the first part that does not match, for messages that must not show
    /// values. The pointer is empty for the whole value, and for a value that is too large.
    ///
    /// ```
    /// use mcp_servlet_schema::Validator;
    /// use serde_json::json;
    ///
    /// let validator = Validator::new(&json!({ "properties": { "n": { "type": "integer" } } })).unwrap();
    /// assert_eq!(validator.first_problem(&json!({ "n": "secret" })).as_deref(), Some("/n"));
    /// assert_eq!(validator.first_problem(&json!({ "n": 1 })), None);
    /// ```
    pub fn first_problem(&self, value: &Value) -> Option<String> {
        self.0.check_value(value).err()?;
        let first = self.0.validator().iter_errors(value).next();
        Some(first.map_or_else(String::new, |error| error.instance_path().to_string()))
    }
}

impl Schemas {
    /// Compiles the schemas of a tool: its `inputSchema`, and its `outputSchema` if it has one.
    ///
    /// # Errors
    /// [`Problem`] if one of them is not a JSON Schema.
    pub fn of(tool: &JsonObject) -> Result<Self, Problem> {
        let compile = |key: &'static str| {
            let Some(schema) = tool.get(key).filter(|schema| !schema.is_null()) else {
                return Ok(None);
            };
            match Checker::new(schema) {
                Ok(checker) => Ok(Some(checker)),
                Err(Uncheckable::Wrong(problem)) => Err(problem.within(&format!("/{key}"))),
                Err(Uncheckable::Unbounded(why)) => {
                    tracing::debug!(why, "schema not checked");
                    Ok(None)
                }
            }
        };
        Ok(Self {
            arguments: compile("inputSchema")?,
            results: compile("outputSchema")?,
            has_output_schema: tool
                .get("outputSchema")
                .is_some_and(|schema| !schema.is_null()),
            known: tool.get("inputSchema").and_then(unknown::known_names),
        })
    }

    /// The arguments that are not in the schema; none if the schema accepts any name.
    pub fn unknown<'a>(&'a self, arguments: &'a JsonObject) -> impl Iterator<Item = &'a String> {
        let known = self.known.iter();
        known.flat_map(|known| arguments.keys().filter(|name| !known.contains(*name)))
    }

    /// The arguments without those that are not in the schema.
    pub fn without_unknown<'a>(&self, arguments: &'a JsonObject) -> Cow<'a, JsonObject> {
        let unknown: Vec<_> = self.unknown(arguments).collect();
        if unknown.is_empty() {
            return Cow::Borrowed(arguments);
        }
        tracing::debug!(?unknown, "arguments dropped");
        let mut arguments = arguments.clone();
        arguments.retain(|name, _| !unknown.contains(&name));
        Cow::Owned(arguments)
    }

    /// Whether [`arguments`](Self::arguments) takes so long that it should run on a blocking thread.
    pub fn takes_long(&self, arguments: Option<&JsonObject>) -> bool {
        let (Some(checker), Some(arguments)) = (&self.arguments, arguments) else {
            return false;
        };
        checker.cost.saturating_mul(members(arguments)) > MANY_STEPS
    }

    /// Checks the arguments of a call and returns them. With `coerce`, a string such as `"10"`
    /// becomes a number, a boolean or null if only that matches.
    ///
    /// # Errors
    /// A message for the model if the arguments do not match, with an example of valid ones.
    pub fn arguments(
        &self,
        coerce: bool,
        arguments: Option<&JsonObject>,
    ) -> Result<Option<JsonObject>, String> {
        let Some(checker) = &self.arguments else {
            return Ok(arguments.cloned());
        };
        let mut value = Value::Object(arguments.cloned().unwrap_or_default());
        if let Err(problem) = checker.check_arguments(coerce, &mut value) {
            let mut text = format!("invalid arguments: {problem}");
            if let Some(example) = checker.example() {
                text += "\nvalid arguments: ";
                text += &example.to_string();
            }
            return Err(text);
        }
        match value {
            // If the arguments were absent, they stay absent.
            Value::Object(members) if arguments.is_some() => Ok(Some(members)),
            _ => Ok(None),
        }
    }

    /// Whether the structured content of a result can be null.
    pub fn allow_null_result(&self) -> bool {
        let checker = self.results.as_ref();
        checker.map_or(self.has_output_schema, |checker| {
            checker.validator().is_valid(&Value::Null)
        })
    }

    /// The problem with the structured content of a result that is complete and not an error.
    pub fn problem(&self, structured_content: Option<&Value>) -> Option<String> {
        let checker = self.results.as_ref()?;
        match structured_content {
            None => Some("it is missing, and the tool has an `outputSchema`".to_owned()),
            Some(content) => checker.check_value(content).err(),
        }
    }
}

impl Checker {
    /// Checks a schema, and compiles it now or when it is first applied.
    fn new(schema: &Value) -> Result<Self, Uncheckable> {
        Self::with(schema, Compiled::new)
    }

    fn with(
        schema: &Value,
        compile: impl FnOnce(&Value) -> Result<Compiled, Problem>,
    ) -> Result<Self, Uncheckable> {
        let cost = match cost_of(schema) {
            Cost::Bounded(cost) => cost,
            Cost::Unbounded(why) => return Err(Uncheckable::Unbounded(why)),
            Cost::Wrong(problem) => return Err(Uncheckable::Wrong(problem)),
        };
        let schema = compile(schema).map_err(Uncheckable::Wrong)?;
        Ok(Self { schema, cost })
    }

    fn validator(&self) -> &jsonschema::Validator {
        self.schema.validator()
    }

    /// Whether a check ends within the limits.
    fn can_check(&self, value: &Value) -> bool {
        self.steps(value) <= MAX_STEPS
    }

    fn steps(&self, value: &Value) -> u64 {
        self.cost.saturating_mul(count(value))
    }

    fn check_value(&self, value: &Value) -> Result<(), String> {
        if !self.can_check(value) {
            return Err("too large to check against the schema".to_owned());
        }
        if self.validator().is_valid(value) || self.validator().is_valid(&without_nulls(value)) {
            return Ok(());
        }
        let errors = self.validator().iter_errors(value);
        Err(Report::new(self.schema.schema()).text(errors))
    }

    /// Checks arguments, after strings in them were converted if `coerce` says so.
    fn check_arguments(&self, coerce: bool, value: &mut Value) -> Result<(), String> {
        let can_check = self.can_check(value);
        // Valid arguments need no conversion.
        if !can_check || !self.validator().is_valid(value) {
            if coerce && can_check {
                coerce::coerce(self.validator(), value);
            }
            self.check_value(value)?;
        }
        self.check_integers(value)
    }

    /// Refuses integers that may have been rounded when the host read them.
    fn check_integers(&self, value: &Value) -> Result<(), String> {
        inexact::integer(self.validator(), value).map_or(Ok(()), Err)
    }

    /// A valid value, if one is easy to make.
    fn example(&self) -> Option<Value> {
        let example = example_of(self.schema.schema(), self.schema.schema())?;
        self.validator().is_valid(&example).then_some(example)
    }
}

/// The value without members that are null: models write null for members that they leave out, even
/// if the schema does not accept it.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            members
                .map(|(name, value)| (name.clone(), without_nulls(value)))
                .collect()
        }
        value => value.clone(),
    }
}

/// The number of values in a value, including itself.
fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(object) => members(object),
        _ => 0,
    }
}

fn members(object: &JsonObject) -> u64 {
    object.values().map(count).sum()
}

#[cfg(test)]
mod tests;
