//! The types as plain JSON Schema (draft-07), the input of typify.
//!
//! typify decides which Rust type a value has, and where a `Box` is needed. Names, attributes and docs are ours.
//! Types and fields have numbers instead of names here, so that no name can cause an error in typify.

use serde_json::{Map, Value, json};

use crate::document::Scalar;
use crate::ir::{Function, Item, Kind, Module, Type, TypeId};

/// The name of the Rust type in the definition of a struct, newtype or union.
pub(crate) const TYPE: &str = "T";
/// A definition for types outside of others: those of aliases and parameters.
pub(crate) const STANDALONE: &str = "Standalone";

/// The position of a type: a definition and one of its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// A field of a struct, the content of a newtype, or a member of a union.
    Field(TypeId, usize),
    /// The further properties of a struct, all together.
    Extra(TypeId),
    Alias(TypeId),
    Parameter(usize),
}

impl Slot {
    /// The definition and the property.
    pub(crate) fn address(self) -> (String, String) {
        match self {
            Self::Field(TypeId(id), index) => (format!("{TYPE}{id}"), format!("f{index}")),
            Self::Extra(TypeId(id)) => (format!("{TYPE}{id}"), "extra".to_owned()),
            Self::Alias(TypeId(id)) => (STANDALONE.to_owned(), format!("a{id}")),
            Self::Parameter(slot) => (STANDALONE.to_owned(), format!("p{slot}")),
        }
    }
}

/// Types whose contents do not matter here: enums and aliases, which typify replaces by name, and types that JSON
/// does not have, which are string formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// An enum or an alias. Only its name is known here.
    Named(TypeId),
    Bytes,
    DateTime,
}

impl Leaf {
    /// The name or the format. It is also the name of a Rust type, which is replaced later.
    pub(crate) fn format(self) -> String {
        match self {
            Self::Named(TypeId(id)) => format!("{TYPE}{id}"),
            Self::Bytes => "Bytes".to_owned(),
            Self::DateTime => "DateTime".to_owned(),
        }
    }
}

/// The definitions of all types with parts, and the leaves that they use.
pub(crate) fn definitions(module: &Module, byte: Scalar) -> Definitions {
    let schemas = Schemas { byte };
    let mut standalone = Map::new();
    let mut all = Vec::new();
    for (id, def) in module.ids() {
        let mut properties = Map::new();
        let mut add = |slot: Slot, value| {
            properties.insert(slot.address().1, value);
        };
        match &def.kind {
            Kind::Struct(def) => {
                for (index, field) in def.fields.iter().enumerate() {
                    let null = field.is_option();
                    add(Slot::Field(id, index), schemas.ty(&field.value.ty, null));
                }
                if let Some((_, item)) = &def.extra {
                    let values = schemas.item(item);
                    let map = json!({ "type": "object", "additionalProperties": values });
                    add(Slot::Extra(id), map);
                }
            }
            Kind::Newtype(item) => add(Slot::Field(id, 0), schemas.item(item)),
            Kind::Union(union) => {
                for (index, (_, member)) in union.members.iter().enumerate() {
                    add(Slot::Field(id, index), schemas.ty(member, false));
                }
            }
            Kind::Alias(item) => {
                standalone.insert(Slot::Alias(id).address().1, schemas.item(item));
            }
            Kind::Enum(_) => {}
        }
        all.push((format!("{TYPE}{}", id.0), object(properties)));
    }
    for parameter in module.functions().flat_map(Function::parameters) {
        let slot = Slot::Parameter(parameter.slot);
        standalone.insert(slot.address().1, schemas.item(&parameter.value));
    }
    all.push((STANDALONE.to_owned(), object(standalone)));
    all
}

/// Definitions by their names.
pub(crate) type Definitions = Vec<(String, Value)>;

/// The leaves that definitions of a module can have.
pub(crate) fn leaves(module: &Module) -> Vec<Leaf> {
    module
        .ids()
        .filter(|(_, def)| matches!(def.kind, Kind::Enum(_) | Kind::Alias(_)))
        .map(|(id, _)| Leaf::Named(id))
        .chain([Leaf::Bytes, Leaf::DateTime])
        .collect()
}

/// An object with only required properties; otherwise typify would take it for a map.
fn object(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

struct Schemas {
    /// The Rust type of a string in base64.
    byte: Scalar,
}

impl Schemas {
    fn item(&self, item: &Item) -> Value {
        self.ty(&item.ty, item.nullable)
    }

    fn ty(&self, ty: &Type, nullable: bool) -> Value {
        match ty {
            Type::Any => json!({}),
            Type::Named(TypeId(id)) => named(*id, nullable),
            Type::Scalar(Scalar::Byte) => scalar(self.byte, nullable),
            Type::Scalar(kind) => scalar(*kind, nullable),
            Type::FreeForm => typed("object", nullable),
            Type::List(element) => self.with_part("array", nullable, "items", element),
            Type::Map(value) => self.with_part("object", nullable, "additionalProperties", value),
        }
    }

    fn with_part(&self, ty: &str, nullable: bool, key: &str, part: &Item) -> Value {
        let mut whole = typed(ty, nullable);
        whole[key] = self.item(part);
        whole
    }
}

fn named(id: usize, nullable: bool) -> Value {
    let reference = json!({ "$ref": format!("#/definitions/{TYPE}{id}") });
    if nullable {
        json!({ "oneOf": [reference, { "type": "null" }] })
    } else {
        reference
    }
}

fn scalar(scalar: Scalar, nullable: bool) -> Value {
    match scalar {
        Scalar::Boolean => typed("boolean", nullable),
        Scalar::String | Scalar::Byte => typed("string", nullable),
        Scalar::Buffer => leaf(Leaf::Bytes, nullable),
        Scalar::DateTime => leaf(Leaf::DateTime, nullable),
        Scalar::Float => formatted("number", "float", nullable),
        Scalar::Double => formatted("number", "double", nullable),
        Scalar::Integer(width) => formatted("integer", format_of(width), nullable),
    }
}

fn format_of(width: &str) -> &'static str {
    match width {
        "u8" => "uint8",
        "i8" => "int8",
        "u16" => "uint16",
        "i16" => "int16",
        "u32" => "uint32",
        "i32" => "int32",
        "u64" => "uint64",
        _ => "int64",
    }
}

fn leaf(leaf: Leaf, nullable: bool) -> Value {
    formatted("string", &leaf.format(), nullable)
}

fn formatted(ty: &str, format: &str, nullable: bool) -> Value {
    let mut schema = typed(ty, nullable);
    schema["format"] = json!(format);
    schema
}

fn typed(ty: &str, nullable: bool) -> Value {
    if nullable {
        json!({ "type": [ty, "null"] })
    } else {
        json!({ "type": ty })
    }
}
