//! An XTP document. Every name has its position, and references are not resolved.

use std::collections::BTreeSet;

use crate::span::At;

/// The contents of one schema file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    pub(crate) version: Version,
    pub(crate) exports: Vec<Function>,
    pub(crate) imports: Vec<Function>,
    pub(crate) schemas: Vec<Schema>,
}

impl Document {
    /// Exports and imports.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.exports.iter().chain(&self.imports)
    }

    /// Visits every item of the document in order, each before its parts.
    pub(crate) fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Item)) {
        for parameter in self.functions().flat_map(Function::parameters) {
            parameter.value.visit(visit);
        }
        for schema in &self.schemas {
            schema.value.visit(visit);
        }
    }
}

/// The version of XTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    /// Exports are only names.
    V0,
    /// Exports have types. Written `v1-draft`.
    #[default]
    V1,
}

/// A name, with the position of its definition or use.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) at: At,
}

/// An export or an import.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) description: Option<String>,
    pub(crate) code_samples: Vec<CodeSample>,
    pub(crate) input: Option<Parameter>,
    pub(crate) output: Option<Parameter>,
}

impl Function {
    /// The input and the output.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.input.iter().chain(&self.output)
    }
}

/// An example of how to use or implement an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeSample {
    pub(crate) lang: String,
    pub(crate) source: String,
    pub(crate) label: Option<String>,
}

/// The input or the output of a function.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) at: At,
    pub(crate) content_type: ContentType,
    pub(crate) description: Option<String>,
    pub(crate) value: Item,
}

/// The encoding of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentType {
    /// `application/json`.
    Json,
    /// `text/plain; charset=utf-8`.
    Text,
    /// `application/x-binary`, and any other content type, as in the official generators.
    Binary,
}

/// An entry of `components.schemas`.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) name: Name,
    pub(crate) description: Option<String>,
    pub(crate) value: Item,
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
    /// An item that could not be read; the report says why.
    pub(crate) const UNREAD: Self = Self {
        shape: Shape::Any,
        nullable: false,
    };

    /// Any JSON value, which may be null.
    pub(crate) const ANY: Self = Self {
        shape: Shape::Any,
        nullable: true,
    };

    /// Visits the item and all items in it, each before its parts.
    pub(crate) fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Item)) {
        visit(self);
        match &self.shape {
            Shape::List(item) | Shape::Map(item) => item.visit(visit),
            Shape::Object(object) => {
                for property in &object.properties {
                    property.value.visit(visit);
                }
                if let Some(extra) = &object.extra {
                    extra.visit(visit);
                }
            }
            Shape::Scalar(_)
            | Shape::FreeForm
            | Shape::Any
            | Shape::Ref(_)
            | Shape::Enum(_)
            | Shape::Union(_) => {}
        }
    }
}

/// The shape of a value.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Scalar(Scalar),
    /// An object with unknown properties.
    FreeForm,
    /// Any JSON value.
    Any,
    /// A reference to a schema.
    Ref(Name),
    List(Box<Item>),
    Map(Box<Item>),
    Object(Box<Object>),
    Enum(Vec<Name>),
    Union(Box<Union>),
}

/// An object with known properties.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) properties: Vec<Property>,
    /// The names of required properties.
    pub(crate) required: Vec<Name>,
    /// The type of all further properties, if they are kept.
    pub(crate) extra: Option<Item>,
}

impl Object {
    pub(crate) fn required_names(&self) -> BTreeSet<&str> {
        self.required
            .iter()
            .map(|name| name.text.as_str())
            .collect()
    }
}

/// One of several schemas.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub(crate) at: At,
    /// The property that selects the member, if there is a `discriminator`.
    pub(crate) tag: Option<String>,
    pub(crate) members: Vec<Member>,
}

/// One of the schemas of a union.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The tag value that `mapping` gives it.
    pub(crate) mapped: Option<Name>,
    pub(crate) target: Name,
}

/// A type without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Boolean,
    String,
    /// A string that holds bytes in base64.
    Byte,
    DateTime,
    /// Bytes.
    Buffer,
    /// An integer of one of the Rust types `u8` to `i64`.
    Integer(&'static str),
    Float,
    Double,
}
