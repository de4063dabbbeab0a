//! Which of two templates is the more specific one, in `const` evaluation.
//!
//! They are compared from left to right, piece by piece: text comes before the end of the template,
//! and the end before a variable. Two templates with the same pieces would match the same URIs.

use super::{Operator, Part, Template};

/// Whether a URI that both templates match belongs to the first one.
pub(crate) const fn is_more_specific(one: &Template, other: &Template) -> bool {
    matches!(compare(one, other), Order::Before)
}

/// Whether two templates match the same URIs.
pub(crate) const fn are_alike(one: &Template, other: &Template) -> bool {
    matches!(compare(one, other), Order::Alike)
}

/// How one template relates to another.
enum Order {
    Before,
    After,
    Alike,
}

const fn compare(one: &Template, other: &Template) -> Order {
    let (mut here, mut there) = (Place::START, Place::START);
    if one.parts.is_empty() || other.parts.is_empty() {
        // A template without parts is used instead of one that has errors.
        return Order::After;
    }
    loop {
        let (piece, opposite) = (here.rank(one.parts), there.rank(other.parts));
        if piece != opposite {
            return if piece < opposite {
                Order::Before
            } else {
                Order::After
            };
        }
        if piece == END {
            return Order::Alike;
        }
        here = here.next(one.parts);
        there = there.next(other.parts);
    }
}

const END: usize = 0x100;

/// A position in a template: a byte of a text, or an expression.
#[derive(Clone, Copy)]
struct Place {
    part: usize,
    byte: usize,
}

impl Place {
    const START: Self = Self { part: 0, byte: 0 };

    /// The rank of this position: the smaller, the more specific.
    const fn rank(self, parts: &[Part]) -> usize {
        if self.part >= parts.len() {
            return END;
        }
        match parts[self.part] {
            Part::Text(text) => text.as_bytes()[self.byte] as usize,
            Part::Variables(operator, variables) => {
                END + 1 + operator.rank() * 0x100 + variables.len()
            }
        }
    }

    const fn next(self, parts: &[Part]) -> Self {
        match parts[self.part] {
            Part::Text(text) if self.byte + 1 < text.len() => Self {
                byte: self.byte + 1,
                ..self
            },
            _ => Self {
                part: self.part + 1,
                byte: 0,
            },
        }
    }
}

impl Operator {
    /// Operators that are more specific about what they match come first.
    const fn rank(self) -> usize {
        match self {
            Self::Label => 0,
            Self::Path => 1,
            Self::Parameter => 2,
            Self::Query => 3,
            Self::Continuation => 4,
            Self::Fragment => 5,
            Self::Simple => 6,
            Self::Reserved => 7,
        }
    }
}
