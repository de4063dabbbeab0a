//! The generated types and functions in the order of the schema, with their names in Rust.

use crate::document::{CodeSample, ContentType, Scalar};
use crate::span::At;

/// Everything in a schema, ready to be generated.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// Indexed by [`TypeId`].
    pub(crate) types: Vec<TypeDef>,
    /// The order in which types are generated: the order of the schema. Inline types follow the
    /// type that contains them.
    pub(crate) order: Vec<TypeId>,
    pub(crate) exports: Vec<Function>,
    pub(crate) imports: Vec<Function>,
}

impl Module {
    pub(crate) fn get(&self, id: TypeId) -> &TypeDef {
        &self.types[id.0]
    }

    /// A property of an object, by the names in the schema.
    pub(crate) fn field_mut(&mut self, schema: &str, property: &str) -> Option<&mut Field> {
        let mut types = self.types.iter_mut();
        let def = types.find(|def| def.name.wire == schema)?;
        let Kind::Struct(def) = &mut def.kind else {
            return None;
        };
        let mut fields = def.fields.iter_mut();
        fields.find(|field| field.name.wire == property)
    }

    /// Every type with its id.
    pub(crate) fn ids(&self) -> impl Iterator<Item = (TypeId, &TypeDef)> {
        let types = self.types.iter().enumerate();
        types.map(|(index, def)| (TypeId(index), def))
    }

    /// The items of all type definitions and parameters, without the elements of lists and maps.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        let parameters = self.functions().flat_map(Function::parameters);
        let types = self.types.iter().flat_map(|def| def.kind.items());
        types.chain(parameters.map(|parameter| &parameter.value))
    }

    /// Exports and imports.
    pub(crate) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.exports.iter().chain(&self.imports)
    }
}

/// The index of a type definition in [`Module::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeId(pub(crate) usize);

/// A named type.
#[derive(Clone, Debug)]
pub(crate) struct TypeDef {
    pub(crate) name: Names,
    pub(crate) docs: Option<String>,
    pub(crate) kind: Kind,
}

/// A name in JSON and in Rust.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// As in the schema and in JSON.
    pub(crate) wire: String,
    /// As in Rust source.
    pub(crate) rust: String,
}

/// The contents of a type.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Struct(Struct),
    /// The values, without duplicates.
    Enum(Vec<Names>),
    /// Another name for a type.
    Alias(Item),
    /// A struct with one field, because the type contains itself.
    Newtype(Item),
    Union(Union),
}

impl Kind {
    /// The types that a type consists of, except the members of a union.
    pub(crate) fn items(&self) -> Vec<&Item> {
        match self {
            Self::Struct(def) => {
                let extra = def.extra.iter().map(|(_, item)| item);
                def.fields.iter().map(|f| &f.value).chain(extra).collect()
            }
            Self::Alias(item) | Self::Newtype(item) => vec![item],
            Self::Enum(_) | Self::Union(_) => Vec::new(),
        }
    }
}

/// An object with known properties.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
    /// The Rust name and the type of all further properties, if they are kept.
    pub(crate) extra: Option<(String, Item)>,
}

/// One of several types.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub(crate) tagging: Tagging,
    pub(crate) members: Vec<(Names, Type)>,
}

/// How readers distinguish the members of a union. Their wire names are the values of the tag.
#[derive(Clone, Debug)]
pub(crate) enum Tagging {
    /// By a property that only the union has.
    Union(String),
    /// By a property that the members have themselves.
    Members(String),
    /// By their contents. Their wire names are those of the schemas.
    Content,
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
    /// Whether the field is an `Option` in Rust. A field of any JSON is not one, because null is one of its values.
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
    Named(TypeId),
    List(Box<Item>),
    Map(Box<Item>),
}

impl Type {
    /// Whether values contain this type, at any depth of lists and maps.
    pub(crate) fn has(&self, part: &Self) -> bool {
        match self {
            Self::List(item) | Self::Map(item) => item.ty.has(part),
            other => other == part,
        }
    }
}

/// An export or an import.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// The position in the schema.
    pub(crate) at: At,
    pub(crate) name: Names,
    pub(crate) docs: Option<String>,
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

/// The input or the output of a function.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// The position in the schema.
    pub(crate) at: At,
    /// The number of its `Slot::Parameter`, under which `RustTypes` has its Rust type.
    pub(crate) slot: usize,
    pub(crate) content_type: ContentType,
    pub(crate) docs: Option<String>,
    pub(crate) value: Item,
}
