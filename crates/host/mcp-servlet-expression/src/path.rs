//! Paths such as `request.arguments.city`, which are looked up in the JSON itself.

use std::{fmt, ops::Range};

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

    /// The end of the last name, in bytes.
    pub(crate) fn end(&self) -> usize {
        let mut names = self.steps.iter().rev();
        let last = names.find_map(|step| match step {
            PathStep::Member { range, .. } => Some(range.end),
            PathStep::Item { .. } => None,
        });
        last.unwrap_or(self.range.end)
    }

    /// The names of the first members, up to the first item of an array.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map_while(PathStep::name)
    }
}

impl fmt::Display for Path {
    /// As it is written, such as `result.days[0].?high`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for step in &self.steps {
            let mark = if step.is_optional() { "?" } else { "" };
            match step {
                PathStep::Member { name, .. } if is_identifier(name) => write!(f, ".{mark}{name}")?,
                PathStep::Member { name, .. } => write!(f, "[{mark}{name:?}]")?,
                PathStep::Item { number, .. } => write!(f, "[{mark}{number}]")?,
            }
        }
        Ok(())
    }
}

fn is_identifier(name: &str) -> bool {
    let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let is_word = !name.is_empty() && name.chars().all(is_part);
    is_word && !name.starts_with(|one: char| one.is_ascii_digit())
}
