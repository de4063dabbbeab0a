//! The kinds of schemas.

use super::{Node, Property};

/// The values that a [`Node`] accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Any JSON.
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// An integer, with bounds if they are narrower than 64 bits.
    Integer { min: Option<i64>, max: Option<i64> },
    /// Any number.
    Number,
    /// A string, with an optional format.
    String {
        format: &'static str,
        /// Whether the type parses it, by rules that the schema does not show.
        parsed: bool,
    },
    /// A string of one character.
    Character,
    /// One of several strings; `notes` explains them, a line for each.
    Enum {
        values: &'static [&'static str],
        notes: &'static str,
    },
    /// A list.
    Array {
        items: &'static Node,
        nullable: bool,
        unique: bool,
        /// The number of items, if it is fixed.
        count: Option<usize>,
    },
    /// An object with values of one type and keys of another, which are strings in JSON.
    Map {
        keys: &'static Node,
        values: &'static Node,
        nullable: bool,
    },
    /// An object with known properties.
    Object(Object),
    /// Any of several schemas; `object` says that each is an object.
    AnyOf {
        variants: &'static [Node],
        object: bool,
    },
    /// A schema written as JSON text.
    Raw(&'static str),
    /// A schema that is generated when the servlet describes itself.
    #[cfg_attr(
        not(feature = "schemars"),
        allow(dead_code, reason = "only that feature makes schemas")
    )]
    Generated(Generate),
}

impl Kind {
    /// The `type` in JSON Schema; empty if there is not one for all values.
    pub(crate) const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer { .. } => "integer",
            Self::Number => "number",
            Self::String { .. } | Self::Character | Self::Enum { .. } => "string",
            Self::Array { .. } => "array",
            Self::Map { .. } | Self::Object(_) | Self::AnyOf { object: true, .. } => "object",
            Self::Any | Self::Raw(_) | Self::Generated(_) | Self::AnyOf { object: false, .. } => "",
        }
    }
}

/// Generates the members of a schema, as JSON text without the braces.
pub(crate) type Generate = fn(&Gap<'_>) -> String;

/// What a gap in the description says about the schema that fills it.
#[cfg_attr(
    not(feature = "schemars"),
    allow(dead_code, reason = "only that feature makes schemas")
)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap<'a> {
    pub(crate) place: Place,
    /// The description that comes before the type's own, as JSON; empty for none.
    pub(crate) description: &'a str,
    /// The description of a type that has none, as JSON; empty for none.
    pub(crate) fallback: &'a str,
}

/// The position of a schema in a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// All arguments.
    Arguments,
    /// One argument, or a part of it.
    Argument,
    /// The structured result, with the name of its member.
    Result,
    /// A part of the structured result.
    Part,
}

/// The properties of an object schema.
#[derive(Debug, Clone, Copy)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "they are independent, and none is public"
)]
pub(crate) struct Object {
    pub(crate) properties: &'static [Property],
    /// Objects whose properties are spliced in, as by `#[serde(flatten)]`.
    pub(crate) flattened: &'static [&'static Node],
    /// Whether unknown properties are refused.
    pub(crate) closed: bool,
    /// Whether the type reads no other properties, though it may ignore them.
    pub(crate) complete: bool,
    /// Whether its one property wraps a result that is not an object. See `Node::wrapped`.
    pub(crate) wrapper: bool,
    /// Whether no property is required, whatever the properties say.
    pub(crate) partial: bool,
}
