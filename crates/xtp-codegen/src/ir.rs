//! What is generated: types in the order of the schema, with their names in Rust.

use crate::document::Scalar;

/// A struct or an enum.
#[derive(Clone, Debug)]
pub(crate) struct TypeDef {
    pub(crate) name: Names,
    pub(crate) docs: Option<String>,
    pub(crate) kind: Kind,
}

/// A name on both sides.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// As the schema and JSON spell it.
    pub(crate) wire: String,
    /// As Rust source spells it.
    pub(crate) rust: String,
}

/// What a type consists of.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Struct(Vec<Field>),
    Enum(Vec<Names>),
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Names,
    pub(crate) docs: Option<String>,
    pub(crate) required: bool,
    pub(crate) value: Item,
}

impl Field {
    /// Whether the field is an `Option` in Rust. Any JSON is not: null is one of its values.
    pub(crate) fn is_option(&self) -> bool {
        !self.required || (self.value.nullable && self.value.ty != Type::Any)
    }
}

/// A type and whether null is one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) ty: Type,
    pub(crate) nullable: bool,
}

/// The type of a field or of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Scalar(Scalar),
    FreeForm,
    Any,
    /// A type definition, by its name in the schema.
    Named(String),
    List(Box<Item>),
    Map(Box<Item>),
}
