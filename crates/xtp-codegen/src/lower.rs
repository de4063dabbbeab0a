//! From a checked document to the types to generate.

use std::collections::BTreeSet;

use crate::document::{self, Body, Document, Name, Property, Schema, Shape};
use crate::ir::{Field, Item, Kind, Names, Type, TypeDef};
use crate::names;

/// Lowers a document that passed all checks. What could not be read is not there anymore.
pub(crate) fn lower(document: &Document) -> Vec<TypeDef> {
    document.schemas.iter().filter_map(type_def).collect()
}

fn type_def(schema: &Schema) -> Option<TypeDef> {
    let kind = match &schema.body {
        Body::Object {
            properties,
            required,
        } => Kind::Struct(fields(properties, required)),
        Body::Enum { values } => Kind::Enum(values.iter().map(pascal).collect()),
        Body::Unread => return None,
    };
    Some(TypeDef {
        name: pascal(&schema.name),
        docs: schema.description.clone(),
        kind,
    })
}

fn pascal(name: &Name) -> Names {
    let wire = name.text.clone();
    let rust = names::type_source(&names::pascal(&wire));
    Names { wire, rust }
}

fn snake(name: &Name) -> Names {
    let wire = name.text.clone();
    let rust = names::field_source(&names::snake(&wire));
    Names { wire, rust }
}

fn fields(properties: &[Property], required: &[Name]) -> Vec<Field> {
    let required: BTreeSet<&str> = required.iter().map(|name| name.text.as_str()).collect();
    let fields = properties.iter().filter_map(|property| {
        Some(Field {
            name: snake(&property.name),
            docs: property.description.clone(),
            required: required.contains(property.name.text.as_str()),
            value: item(&property.value)?,
        })
    });
    fields.collect()
}

fn item(item: &document::Item) -> Option<Item> {
    let nullable = item.nullable;
    let ty = ty(&item.shape)?;
    Some(Item { ty, nullable })
}

fn ty(shape: &Shape) -> Option<Type> {
    Some(match shape {
        Shape::Scalar(scalar) => Type::Scalar(*scalar),
        Shape::FreeForm => Type::FreeForm,
        Shape::Any => Type::Any,
        Shape::Ref(name) => Type::Named(name.text.clone()),
        Shape::List(element) => Type::List(Box::new(item(element)?)),
        Shape::Map(value) => Type::Map(Box::new(item(value)?)),
        Shape::Unread => return None,
    })
}
