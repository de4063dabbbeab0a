//! Paths such as `request.arguments.city`, which are looked up in the JSON itself.

use std::ops::Range;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A member of an object.
    Member {
        /// Its name.
        name: String,
        /// Whether the member may be absent, as in `result.?isError`.
        is_optional: bool,
        /// The bytes of the name in the expression.
        range: Range<usize>,
    },
    /// An item of an array.
    Item {
        /// The number of the item, counted from 0.
        number: usize,
        /// Whether the item may be absent.
        is_optional: bool,
    },
}

impl PathStep {
    /// The name, if this is a member.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Member { name, .. } => Some(name),
            Self::Item { .. } => None,
        }
    }

    /// Whether what this leads to may be absent.
    pub fn is_optional(&self) -> bool {
        match self {
            Self::Member { is_optional, .. } | Self::Item { is_optional, .. } => *is_optional,
        }
    }
}

/// A path that begins at a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The first name, such as `request`.
    pub root: String,
    /// The bytes of the first name in the expression.
    pub range: Range<usize>,
    /// The steps that follow.
    pub steps: Vec<PathStep>,
}

impl Path {
    /// The path with one more step.
    pub(crate) fn with(mut self, step: PathStep) -> Self {
        self.steps.push(step);
        self
    }

    /// The names of the first members, up to the first item of an array.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map_while(PathStep::name)
    }
}
