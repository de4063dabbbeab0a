//! Schemas of objects: their properties, and whether they accept others.

use super::kind::{Kind, Object};
use super::{Node, Property, Schema};

impl Node {
    /// An object with these properties.
    pub const fn object(properties: &'static [Property]) -> Self {
        Self::new(Kind::Object(Object {
            properties,
            flattened: &[],
            closed: false,
            complete: false,
            wrapper: false,
            partial: false,
        }))
    }

    /// The same object, which rejects other properties. No effect on other kinds.
    #[must_use]
    pub const fn closed(self) -> Self {
        match self.kind {
            Kind::Object(object) => Self {
                kind: Kind::Object(Object {
                    closed: true,
                    ..object
                }),
                ..self
            },
            _ => self,
        }
    }

    /// The same object, for a type that ignores other properties. Arguments of a tool reject them. No effect on
    /// other kinds.
    #[must_use]
    pub const fn complete(self) -> Self {
        match self.kind {
            Kind::Object(object) => Self {
                kind: Kind::Object(Object {
                    complete: true,
                    ..object
                }),
                ..self
            },
            _ => self,
        }
    }

    /// An object with the one property `result`, for structured content that is not an object itself.
    ///
    /// MCP before 2026-07-28 requires an object. The mark `x-fastmcp-wrap-result`, a convention that
    /// clients know, tells them, and hosts that serve newer clients, that the actual result is inside.
    pub(crate) const fn wrapped(result: &'static [Property]) -> Self {
        Self::new(Kind::Object(Object {
            properties: result,
            flattened: &[],
            closed: false,
            complete: false,
            wrapper: true,
            partial: false,
        }))
    }

    /// The schema of the arguments that a tool reads into one value of this type.
    pub(crate) const fn of_arguments(self) -> Self {
        match self.kind {
            Kind::Object(ref object) if object.is_complete() => self.closed(),
            _ => self,
        }
    }

    /// The same object with the properties of others, each a [`flattened`](Self::flattened) one. No
    /// effect on other kinds. The build stops if one of the others is not an object, a map or any JSON.
    #[must_use]
    #[track_caller]
    pub const fn with_flattened(self, flattened: &'static [&'static Node]) -> Self {
        let mut at = 0;
        while at < flattened.len() {
            let _ = flattened[at].flattenable();
            at += 1;
        }
        self.with_checked(flattened)
    }

    /// The same as [`with_flattened`](Self::with_flattened), for types that the derive checks itself, so that a wrong one
    /// causes one error and not two.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_checked(self, flattened: &'static [&'static Node]) -> Self {
        match self.kind {
            Kind::Object(object) => Self {
                kind: Kind::Object(Object {
                    flattened,
                    ..object
                }),
                ..self
            },
            _ => self,
        }
    }

    /// The schema of `T` for [`with_flattened`](Self::with_flattened). For an `Option`, no property is required.
    pub const fn flattened<T: Schema + ?Sized>() -> Self {
        match T::NODE.kind {
            Kind::Object(object) if T::OPTIONAL => Self {
                kind: Kind::Object(Object {
                    partial: true,
                    ..object
                }),
                ..*T::NODE
            },
            _ => *T::NODE,
        }
    }

    /// The same schema, if it can be flattened into an object. Other schemas stop the build.
    #[must_use]
    #[track_caller]
    pub const fn flattenable(self) -> Self {
        match self.kind {
            Kind::Object(_) | Kind::Map { .. } | Kind::Any => self,
            _ => panic!(
                "only structs and maps can be flattened\nhelp: make it a field without `#[serde(flatten)]`, or a variant with named fields"
            ),
        }
    }
}
