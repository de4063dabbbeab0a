//! Which names expressions can read, as far as that is known before a call.

use mcp_servlet_expression::{Expression, Path, PathStep};
use mcp_servlet_schema::similar;
use serde_json::Value;

use crate::problem::{Place, Problem, listed};

/// What is known about a value.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// An object with these members and no others.
    Members(Vec<(String, Shape)>),
    /// The arguments of the tool.
    Arguments(Vec<String>),
    /// The result of a handler that does not say what its structured content is.
    Untyped(String),
    /// The result of a handler, with the members of its structured content.
    Result {
        handler: String,
        structured: Vec<(String, Shape)>,
    },
}

/// The members of every result.
pub(crate) const RESULT: [&str; 4] = ["content", "structuredContent", "isError", "_meta"];

/// What the expressions of one place can read.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The place in words, such as `inputs`.
    pub(crate) place: &'static str,
    pub(crate) roots: Vec<(&'static str, Shape)>,
}

/// The names of all places, and where they are known.
const ROOTS: [(&str, &str); 3] = [
    ("request", "`inputs`, `set`, `result` and `catches`"),
    ("result", "`result`"),
    ("error", "`catches`"),
];

/// An object with members of unknown shapes.
pub(crate) fn members(names: &[&str]) -> Shape {
    let names = names.iter().map(|name| ((*name).to_owned(), Shape::Any));
    Shape::Members(names.collect())
}

impl Names {
    /// Adds a problem for each name that an expression cannot read.
    pub(crate) fn check(
        &self,
        expression: &Expression,
        place: &Place,
        start: usize,
        problems: &mut Vec<Problem>,
    ) {
        for path in &expression.reads {
            if let Some((range, message)) = self.problem(path) {
                let range = range.start + start..range.end + start;
                problems.push(Problem::within(place.clone(), range, message));
            }
        }
    }

    fn problem(&self, path: &Path) -> Option<(std::ops::Range<usize>, String)> {
        let Some((_, shape)) = self.roots.iter().find(|(name, _)| *name == path.root) else {
            return Some((path.range.clone(), self.unknown_root(&path.root)));
        };
        let mut shape = shape;
        let mut name = path.root.clone();
        for step in &path.steps {
            let PathStep::Member {
                name: member,
                range,
                ..
            } = step
            else {
                return None;
            };
            match shape.member(&name, member) {
                Ok(next) => shape = next,
                Err(message) => return Some((range.clone(), message)),
            }
            name = format!("{name}.{member}");
        }
        None
    }

    fn unknown_root(&self, name: &str) -> String {
        let place = self.place;
        if let Some((_, places)) = ROOTS.iter().find(|(known, _)| *known == name) {
            return format!("`{name}` is not known in `{place}`, only in {places}");
        }
        // The expressions of other programs have these.
        if ["env", "secrets"].contains(&name) {
            return format!(
                "there is no `{name}` here; write `${{NAME}}` for an environment variable"
            );
        }
        let known = self.roots.iter().map(|(name, _)| *name);
        format!(
            "there is no `{name}` here; `{place}` can read {}",
            listed(known)
        )
    }
}

static ANY: Shape = Shape::Any;

impl Shape {
    fn member(&self, name: &str, member: &str) -> Result<&Self, String> {
        let find =
            |members: &'_ [(String, Self)]| members.iter().position(|(known, _)| known == member);
        match self {
            Self::Any => Ok(&ANY),
            Self::Members(members) => find(members).map(|at| &members[at].1).ok_or_else(|| {
                let known = listed(members.iter().map(|(name, _)| name.as_str()));
                format!("`{name}` has no `{member}`; it has {known}")
            }),
            Self::Arguments(names) if names.iter().any(|known| known == member) => Ok(&ANY),
            Self::Arguments(names) => Err(no_argument(member, names)),
            _ if RESULT.contains(&member) => Ok(&ANY),
            Self::Untyped(handler) => Err(format!(
                "`{handler}` has no output schema: write `result.structuredContent.{member}`"
            )),
            Self::Result {
                handler,
                structured,
            } => find(structured).map(|at| &structured[at].1).ok_or_else(|| {
                let known = listed(structured.iter().map(|(name, _)| name.as_str()));
                format!("`{handler}` has no `{member}` in its output schema; it has {known}")
            }),
        }
    }

    /// The shape of the values of a schema. Only an object that names all its members is known.
    pub(crate) fn of_schema(schema: &Value) -> Self {
        match properties(schema) {
            Some(members) => Self::Members(members),
            None => Self::Any,
        }
    }

    /// The shape of the result of a handler with this output schema.
    pub(crate) fn of_result(handler: &str, schema: Option<&Value>) -> Self {
        let Some(schema) = schema else {
            return Self::Untyped(handler.to_owned());
        };
        match properties(schema) {
            Some(structured) => Self::Result {
                handler: handler.to_owned(),
                structured,
            },
            None => Self::Any,
        }
    }
}

fn no_argument(name: &str, known: &[String]) -> String {
    let message = format!("there is no argument `{name}`");
    match similar(name, known.iter().map(String::as_str)) {
        Some(known) => format!("{message}; there is `{known}`"),
        None => message,
    }
}

/// Keywords that may describe members other than those in `properties`.
const OPEN: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "$ref",
    "$dynamicRef",
    "patternProperties",
    "dependentSchemas",
    "unevaluatedProperties",
];

fn properties(schema: &Value) -> Option<Vec<(String, Shape)>> {
    let properties = schema.get("properties")?.as_object()?;
    let others = schema.get("additionalProperties");
    let is_open = OPEN.iter().any(|key| schema.get(key).is_some())
        || others.is_some_and(|others| *others != Value::Bool(false));
    let members = properties.iter();
    let members = members.map(|(name, schema)| (name.clone(), Shape::of_schema(schema)));
    (!is_open).then(|| members.collect())
}
