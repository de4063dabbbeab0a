//! Differences of a schema between the sides of a tool.

use super::Side;
use crate::schema::kind::Place;
use crate::schema::{Kind, Node, Object, Property};

impl Side {
    pub(super) const fn place(self) -> Place {
        match self {
            Self::Input => Place::Argument,
            Self::Output => Place::Part,
        }
    }
}

impl Kind {
    /// Whether the rendered schema sets its own type, so that `null` cannot be added to it.
    pub(super) const fn has_own_type(&self) -> bool {
        matches!(self, Self::AnyOf { .. } | Self::Raw(_) | Self::Generated(_))
    }
}

impl Property {
    pub(super) const fn is_on(&self, side: Side) -> bool {
        match side {
            Side::Input => self.in_input,
            Side::Output => self.in_output,
        }
    }

    pub(super) const fn is_needed(&self, side: Side) -> bool {
        if !self.is_on(side) {
            return false;
        }
        match side {
            Side::Input => self.is_required(),
            Side::Output => !self.skipped,
        }
    }

    /// The schema without the bounds that the property's own bounds replace.
    pub(crate) const fn bounded(&self) -> Node {
        match self.node.kind {
            Kind::Integer { min, max } => {
                let min = if self.limits.min.is_empty() {
                    min
                } else {
                    None
                };
                let max = if self.limits.max.is_empty() {
                    max
                } else {
                    None
                };
                Node {
                    kind: Kind::Integer { min, max },
                    ..*self.node
                }
            }
            _ => *self.node,
        }
    }
}

/// Whether an object, or one that is flattened into it, has a required property.
pub(super) const fn requires_any(object: &Object, side: Side) -> bool {
    if object.partial {
        return false;
    }
    let mut at = 0;
    while at < object.properties.len() {
        if object.properties[at].is_needed(side) {
            return true;
        }
        at += 1;
    }
    at = 0;
    while at < object.flattened.len() {
        if let Kind::Object(ref inner) = object.flattened[at].kind {
            if requires_any(inner, side) {
                return true;
            }
        }
        at += 1;
    }
    false
}
