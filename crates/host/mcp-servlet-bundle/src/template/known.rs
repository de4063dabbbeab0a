//! What is known about a value before a call.

use mcp_servlet_expression::PathStep;
use mcp_servlet_schema::kind;
use serde_json::Value;

use super::Template;
use crate::problem::{Place, Problem};

impl Template {
    /// The value, if it has no expressions.
    pub(crate) fn constant(&self) -> Option<&Value> {
        match self {
            Self::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The type of the value in words, such as "a string"; `None` if an expression decides.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        Some(match self {
            Self::Constant(value) => kind(value),
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
            Self::One(..) => return None,
        })
    }

    /// Reports a value that has another type than `expected` in every call.
    pub(crate) fn expect(&self, expected: &str, place: &Place, problems: &mut Vec<Problem>) {
        if let Some(found) = self.kind().filter(|found| *found != expected) {
            let message = format!("expected {expected}, found {found}");
            problems.push(Problem::new(place.clone(), message));
        }
    }

    /// The items of a list. An item that is an expression may be absent.
    pub(crate) fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::Constant(Value::Array(items)) => {
                Some(items.iter().cloned().map(Self::Constant).collect())
            }
            Self::List(items) => Some(items.clone()),
            _ => None,
        }
    }

    /// The members of an object. A member that is an expression may be absent.
    pub(crate) fn members(&self) -> Option<Vec<(String, Self)>> {
        match self {
            Self::Constant(Value::Object(members)) => {
                let constants = members
                    .clone()
                    .into_iter()
                    .map(|(name, value)| (name, Self::Constant(value)));
                Some(constants.collect())
            }
            Self::Object(members) => Some(members.clone()),
            _ => None,
        }
    }

    /// The name of the argument, if the value is `${{ request.arguments.NAME }}` and nothing else.
    pub(crate) fn argument(&self) -> Option<&str> {
        match self.steps()? {
            [first, PathStep::Member { name, .. }] if first.name() == Some("arguments") => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Whether the value is an argument that may be absent: `${{ request.arguments.?NAME }}`.
    pub(crate) fn is_optional(&self) -> bool {
        let last = self.steps().and_then(<[PathStep]>::last);
        last.is_some_and(PathStep::is_optional)
    }

    /// The steps of a path through the request, if the value is nothing else.
    fn steps(&self) -> Option<&[PathStep]> {
        let Self::One(expression, _) = self else {
            return None;
        };
        let path = expression.path().filter(|path| path.root == "request")?;
        Some(&path.steps)
    }
}
