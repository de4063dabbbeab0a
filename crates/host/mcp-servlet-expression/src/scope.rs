//! What the expressions of a call see: the request, the result or the error.

use std::fmt::Debug;

use serde_json::{Map, Value};

use crate::path::{Path, PathStep};

/// A part of what expressions see, without copies of the JSON.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// JSON.
    Json(&'a Value),
    /// A JSON object.
    Map(&'a Map<String, Value>),
    /// A string.
    Text(&'a str),
    /// An object that is not JSON.
    Object(&'a dyn Object),
}

/// An object that is not JSON.
pub trait Object: Debug + Sync {
    /// A member, if there is one.
    fn member(&self, name: &str) -> Option<Part<'_>>;

    /// All members, in their order.
    fn members(&self) -> Vec<(&str, Part<'_>)>;
}

impl<'a> Part<'a> {
    /// A member of an object.
    pub(crate) fn member(self, name: &str) -> Option<Part<'a>> {
        match self {
            Self::Json(value) => value.as_object()?.get(name).map(Part::Json),
            Self::Map(members) => members.get(name).map(Part::Json),
            Self::Text(_) => None,
            Self::Object(object) => object.member(name),
        }
    }

    fn item(self, number: usize) -> Option<Part<'a>> {
        match self {
            Self::Json(value) => value.as_array()?.get(number).map(Part::Json),
            _ => None,
        }
    }

    pub(crate) fn is_object(self) -> bool {
        match self {
            Self::Json(value) => value.is_object(),
            Self::Map(_) | Self::Object(_) => true,
            Self::Text(_) => false,
        }
    }

    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Map(members) => Value::Object(members.clone()),
            Self::Text(text) => text.into(),
            Self::Object(object) => {
                let members = object.members().into_iter();
                members
                    .map(|(name, part)| (name.to_owned(), part.to_json()))
                    .collect::<Map<_, _>>()
                    .into()
            }
        }
    }
}

/// The names that an expression can read.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a>(Vec<(&'static str, Part<'a>)>);

/// What a path leads to.
pub(crate) enum Found<'a> {
    Value(Part<'a>),
    /// Nothing, and the path allows that.
    Absent,
    /// Nothing, and the path does not allow that.
    Missing,
}

impl<'a> Scope<'a> {
    /// The same scope with one more name.
    #[must_use]
    pub fn with(mut self, name: &'static str, part: Part<'a>) -> Self {
        self.0.push((name, part));
        self
    }

    pub(crate) fn root(&self, name: &str) -> Option<Part<'a>> {
        let (_, part) = self.0.iter().find(|(root, _)| *root == name)?;
        Some(*part)
    }

    /// Looks up a path. An argument that is not there counts as optional: if its tool requires it,
    /// the check of the arguments has found that.
    pub(crate) fn find(&self, path: &Path) -> Found<'a> {
        let Some(mut part) = self.root(&path.root) else {
            return Found::Missing;
        };
        let mut may_be_absent = false;
        for (number, step) in path.steps.iter().enumerate() {
            let (next, is_optional) = match step {
                PathStep::Member {
                    name, is_optional, ..
                } => (part.member(name), *is_optional),
                PathStep::Item {
                    number,
                    is_optional,
                } => (part.item(*number), *is_optional),
            };
            may_be_absent |= is_optional;
            match next {
                Some(next) => part = next,
                None if may_be_absent || is_argument(path, number) => return Found::Absent,
                None => return Found::Missing,
            }
        }
        Found::Value(part)
    }
}

/// Whether this step of a path is the name of an argument.
pub(crate) fn is_argument(path: &Path, step: usize) -> bool {
    path.root == "request" && step == 1 && path.steps[0].name() == Some("arguments")
}
