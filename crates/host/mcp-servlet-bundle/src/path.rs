//! Paths such as `request.arguments.city`, which are looked up in the JSON itself.

use std::ops::Range;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// A member of an object.
    Member {
        name: String,
        /// Whether the member may be absent, as in `result.?isError`.
        is_optional: bool,
        /// The bytes of the name in the expression.
        range: Range<usize>,
    },
    /// An item of an array.
    Item { number: usize, is_optional: bool },
}

impl PathStep {
    /// The name, if this is a member.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Member { name, .. } => Some(name),
            Self::Item { .. } => None,
        }
    }

    /// Whether what this leads to may be absent.
    pub(crate) fn is_optional(&self) -> bool {
        match self {
            Self::Member { is_optional, .. } | Self::Item { is_optional, .. } => *is_optional,
        }
    }
}

/// A path that begins at a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The first name, such as `request`.
    pub(crate) root: String,
    /// The bytes of the first name in the expression.
    pub(crate) range: Range<usize>,
    /// The steps that follow.
    pub(crate) steps: Vec<PathStep>,
}

impl Path {
    /// The path with one more step.
    pub(crate) fn with(mut self, step: PathStep) -> Self {
        self.steps.push(step);
        self
    }

    /// The names of the first members, up to the first item of an array.
    pub(crate) fn members(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map_while(PathStep::name)
    }
}
