//! Lowers a checked document: resolves references, names inline types, and turns every name into one of Rust.

pub(crate) mod complexity;
pub(crate) mod names;
pub(crate) mod recursion;

use std::collections::BTreeMap;

use crate::document::{self, Document, Member, Shape};
use crate::ir::{
    Field, Function, Item, Kind, Module, Names, Parameter, Struct, Tagging, Type, TypeDef, TypeId,
    Union,
};
use crate::lower::complexity::{Around, FIELD, PARAMETER, is_complex};
use crate::names::{Taken, pascal, type_source};
use crate::unions::{Schemas, Tag};

/// Lowers a document that passed all checks.
pub(crate) fn lower(document: &Document) -> Module {
    let schemas = names::schemas(document);
    let mut lower = Lower {
        document,
        schemas: Schemas::new(document),
        ids: BTreeMap::new(),
        types: Vec::new(),
        order: Vec::new(),
        taken: Taken::default(),
        parameters: 0,
    };
    for (index, (schema, name)) in document.schemas.iter().zip(&schemas).enumerate() {
        lower.ids.insert(&schema.name.text, TypeId(index));
        lower.types.push(None);
        lower.taken.take(name);
    }
    for (index, (schema, rust)) in document.schemas.iter().zip(schemas).enumerate() {
        let wire = schema.name.text.clone();
        let docs = schema.description.clone();
        let name = Names {
            wire,
            rust: type_source(&rust),
        };
        lower.define(TypeId(index), name, &rust, docs, &schema.value.shape);
    }
    let exports = lower.functions(&document.exports);
    let imports = lower.functions(&document.imports);
    let mut module = Module {
        types: lower.types.into_iter().flatten().collect(),
        order: lower.order,
        exports,
        imports,
    };
    recursion::close(&mut module);
    module
}

struct Lower<'d> {
    document: &'d Document,
    schemas: Schemas<'d>,
    /// The types of schemas.
    ids: BTreeMap<&'d str, TypeId>,
    /// Indexed by id; every entry is filled in the end.
    types: Vec<Option<TypeDef>>,
    /// The order in which types are generated.
    order: Vec<TypeId>,
    /// The Rust names that types have.
    taken: Taken,
    /// How many parameters have been lowered.
    parameters: usize,
}

impl<'d> Lower<'d> {
    /// Defines a type. Inline types in it are named after the path, which does not depend on the prelude.
    fn define(
        &mut self,
        id: TypeId,
        name: Names,
        path: &str,
        docs: Option<String>,
        shape: &'d Shape,
    ) {
        self.order.push(id);
        let kind = match shape {
            Shape::Object(object) => Kind::Struct(self.object(object, path)),
            Shape::Enum(values) if !values.is_empty() => Kind::Enum(names::variants(values)),
            Shape::Union(union) => Kind::Union(self.union(union)),
            other => Kind::Alias(Item {
                ty: self.ty(other, path),
                nullable: false,
            }),
        };
        self.types[id.0] = Some(TypeDef { name, docs, kind });
    }

    /// Defines a type without a name in the schema; its name is the path to it.
    fn define_inline(&mut self, path: &str, shape: &'d Shape) -> Type {
        let id = TypeId(self.types.len());
        self.types.push(None);
        let path = self.taken.take(path);
        let rust = type_source(&path);
        let wire = rust.clone();
        self.define(id, Names { wire, rust }, &path, None, shape);
        Type::Named(id)
    }

    fn object(&mut self, object: &'d document::Object, path: &str) -> Struct {
        let (fields, extra) = names::fields(object);
        let properties = object.properties.iter().zip(fields);
        let required = object.required_names();
        let fields = properties
            .map(|(property, name)| {
                let path = format!("{path}{}", pascal(&property.name.text));
                let value = self.simple_item(&property.value, &path, FIELD);
                self.describe(&value, property.description.as_ref());
                Field {
                    docs: property.description.clone(),
                    required: required.contains(property.name.text.as_str()),
                    value,
                    name,
                }
            })
            .collect();
        let extra = object.extra.as_ref().map(|values| {
            let values = self.simple_item(values, &format!("{path}Value"), FIELD);
            (extra, values)
        });
        Struct { fields, extra }
    }

    /// Describes an inline type where it is used.
    fn describe(&mut self, value: &Item, description: Option<&String>) {
        let Type::Named(TypeId(id)) = value.ty else {
            return;
        };
        let is_inline = id >= self.document.schemas.len();
        if let (true, Some(Some(def))) = (is_inline, self.types.get_mut(id)) {
            def.docs = description.cloned();
        }
    }

    fn union(&mut self, union: &document::Union) -> Union {
        let tagging = match &union.tag {
            None => Tagging::Content,
            Some(tag) if self.schemas.declare_tag(union) => Tagging::Members(tag.clone()),
            Some(tag) => Tagging::Union(tag.clone()),
        };
        let tag_value = |member: &Member| {
            let Tagging::Members(tag) = &tagging else {
                let name = member.mapped.as_ref().unwrap_or(&member.target);
                return name.text.clone();
            };
            match self.schemas.tag(member, tag) {
                Tag::Values { values, .. } => values.join("` or `"),
                _ => member.target.text.clone(),
            }
        };
        let tags: Vec<_> = union.members.iter().map(tag_value).collect();
        let members = names::members(&union.members, &tags)
            .into_iter()
            .zip(&union.members)
            .filter_map(|(name, member)| {
                let id = self.ids.get(member.target.text.as_str())?;
                Some((name, Type::Named(*id)))
            })
            .collect();
        Union { tagging, members }
    }

    /// An item whose type gets a name if it is complex.
    fn simple_item(&mut self, item: &'d document::Item, path: &str, around: Around) -> Item {
        let item = self.item(item, path);
        if !is_complex(&item, around) {
            return item;
        }
        let id = TypeId(self.types.len());
        let rust = type_source(&self.taken.take(path));
        let wire = rust.clone();
        self.order.push(id);
        self.types.push(Some(TypeDef {
            name: Names { wire, rust },
            docs: None,
            kind: Kind::Alias(Item {
                ty: item.ty,
                nullable: false,
            }),
        }));
        Item {
            ty: Type::Named(id),
            nullable: item.nullable,
        }
    }

    fn item(&mut self, item: &'d document::Item, path: &str) -> Item {
        Item {
            nullable: item.nullable || self.is_nullable(&item.shape),
            ty: self.ty(&item.shape, path),
        }
    }

    /// Whether a schema allows null, directly or through the schema that it refers to.
    fn is_nullable(&self, shape: &Shape) -> bool {
        let mut shape = shape;
        let mut steps = 0;
        while let Shape::Ref(target) = shape {
            let Some(TypeId(index)) = self.ids.get(target.text.as_str()) else {
                return false;
            };
            let schema = &self.document.schemas[*index];
            if schema.value.nullable {
                return true;
            }
            steps += 1;
            if steps > self.ids.len() {
                return false;
            }
            shape = &schema.value.shape;
        }
        false
    }

    fn ty(&mut self, shape: &'d Shape, path: &str) -> Type {
        match shape {
            Shape::Scalar(scalar) => Type::Scalar(*scalar),
            Shape::FreeForm => Type::FreeForm,
            Shape::Any => Type::Any,
            Shape::Ref(name) => match self.ids.get(name.text.as_str()) {
                Some(id) => Type::Named(*id),
                None => Type::Any,
            },
            Shape::List(item) => Type::List(Box::new(self.item(item, &format!("{path}Item")))),
            Shape::Map(item) => Type::Map(Box::new(self.item(item, &format!("{path}Value")))),
            // An enum without values accepts any string; the report has the problem.
            Shape::Enum(values) if values.is_empty() => Type::Scalar(document::Scalar::String),
            Shape::Object(_) | Shape::Enum(_) | Shape::Union(_) => self.define_inline(path, shape),
        }
    }

    fn functions(&mut self, functions: &'d [document::Function]) -> Vec<Function> {
        let lower = |(function, name): (&'d document::Function, Names)| {
            let path = pascal(&function.name.text);
            Function {
                at: function.name.at.clone(),
                docs: function.description.clone(),
                code_samples: function.code_samples.clone(),
                input: self.parameter(function.input.as_ref(), &format!("{path}Input")),
                output: self.parameter(function.output.as_ref(), &format!("{path}Output")),
                name,
            }
        };
        let names = names::functions(functions);
        functions.iter().zip(names).map(lower).collect()
    }

    fn parameter(
        &mut self,
        parameter: Option<&'d document::Parameter>,
        path: &str,
    ) -> Option<Parameter> {
        let parameter = parameter?;
        let slot = self.parameters;
        self.parameters += 1;
        let value = self.simple_item(&parameter.value, path, PARAMETER);
        self.describe(&value, parameter.description.as_ref());
        Some(Parameter {
            at: parameter.at.clone(),
            slot,
            content_type: parameter.content_type,
            docs: parameter.description.clone(),
            value,
        })
    }
}
