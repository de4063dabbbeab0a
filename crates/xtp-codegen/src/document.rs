//! An XTP document as it was written: every name with its place, nothing resolved.

use crate::span::At;

/// What one schema file says. Exports and imports are checked, but generate no types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) functions: Vec<Function>,
    pub(crate) schemas: Vec<Schema>,
}

/// A name, at the place where it is given or used.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) at: At,
}

/// An export or an import.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    /// What goes in and out; none where it could not be read.
    pub(crate) shapes: Vec<Shape>,
}

/// An entry of `components.schemas`.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) name: Name,
    pub(crate) description: Option<String>,
    pub(crate) body: Body,
}

/// The two kinds of schema that have a name in Rust.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Object {
        properties: Vec<Property>,
        required: Vec<Name>,
    },
    Enum {
        values: Vec<Name>,
    },
    /// Could not be read; the report says why.
    Unread,
}

/// A property of an object.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) name: Name,
    pub(crate) description: Option<String>,
    pub(crate) value: Item,
}

/// A type and whether null is one of its values.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) shape: Shape,
    pub(crate) nullable: bool,
}

impl Item {
    pub(crate) const UNREAD: Self = Self {
        shape: Shape::Unread,
        nullable: false,
    };
}

/// What a value looks like.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Scalar(Scalar),
    /// An object of which nothing is known.
    FreeForm,
    /// Any JSON value; only an overlay says so.
    Any,
    /// A schema by name.
    Ref(Name),
    List(Box<Item>),
    Map(Box<Item>),
    /// Could not be read; the report says why.
    Unread,
}

impl Shape {
    /// The schema that values of this shape consist of, however deep in lists and maps.
    pub(crate) fn target(&self) -> Option<&Name> {
        match self {
            Self::Ref(name) => Some(name),
            Self::List(item) | Self::Map(item) => item.shape.target(),
            Self::Scalar(_) | Self::FreeForm | Self::Any | Self::Unread => None,
        }
    }
}

/// A type without parts, by its XTP names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) ty: &'static str,
    pub(crate) format: Option<&'static str>,
}
