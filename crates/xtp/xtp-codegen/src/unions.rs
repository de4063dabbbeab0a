//! How readers distinguish the members of a union: by the tag, or by their contents.

use std::collections::BTreeMap;

use crate::document::{Document, Item, Member, Object, Scalar, Shape, Union};

/// How many references are followed, and how deep types are compared.
const MAX_COMPARED_DEPTH: usize = 8;

/// The schemas of a document by name.
pub(crate) struct Schemas<'d>(BTreeMap<&'d str, &'d Item>);

impl<'d> Schemas<'d> {
    pub(crate) fn new(document: &'d Document) -> Self {
        let schemas = document.schemas.iter();
        Self(
            schemas
                .map(|schema| (schema.name.text.as_str(), &schema.value))
                .collect(),
        )
    }

    /// The shape of a member; `None` if the schema does not exist.
    pub(crate) fn member(&self, member: &Member) -> Option<&'d Shape> {
        let item = self.0.get(member.target.text.as_str())?;
        Some(self.resolved(&item.shape))
    }

    /// The shape behind references.
    fn resolved(&self, shape: &'d Shape) -> &'d Shape {
        let mut shape = shape;
        for _ in 0..MAX_COMPARED_DEPTH {
            let Shape::Ref(name) = shape else { break };
            match self.0.get(name.text.as_str()) {
                Some(item) => shape = &item.shape,
                None => break,
            }
        }
        shape
    }

    /// Whether one of the members has the tag among its own properties.
    pub(crate) fn declare_tag(&self, union: &Union) -> bool {
        let Some(tag) = &union.tag else { return false };
        let mut members = union.members.iter();
        members.any(|member| !matches!(self.tag(member, tag), Tag::Undeclared | Tag::NoObject))
    }

    /// How a member declares the tag.
    pub(crate) fn tag(&self, member: &Member, tag: &str) -> Tag<'d> {
        let Some(Shape::Object(object)) = self.member(member) else {
            return Tag::NoObject;
        };
        let mut properties = object.properties.iter();
        let Some(property) = properties.find(|property| property.name.text == tag) else {
            return Tag::Undeclared;
        };
        match self.resolved(&property.value.shape) {
            Shape::Enum(values) if !values.is_empty() => {
                let always = requires(object, tag) && !property.value.nullable;
                let values = values.iter().map(|value| value.text.as_str()).collect();
                Tag::Values { values, always }
            }
            _ => Tag::NoEnum,
        }
    }

    /// Whether a reader of `one` certainly refuses every value of `other`.
    pub(crate) fn refuses(&self, one: &'d Shape, other: &'d Shape) -> bool {
        self.refuses_within(MAX_COMPARED_DEPTH, one, other)
    }

    fn refuses_within(&self, steps: usize, one: &'d Shape, other: &'d Shape) -> bool {
        let (one, other) = (self.resolved(one), self.resolved(other));
        match (one, other) {
            (Shape::Object(one), Shape::Object(other)) => {
                steps > 0 && self.refuses_object(steps - 1, one, other)
            }
            (Shape::Enum(one), Shape::Enum(other)) if !one.is_empty() => {
                let is_shared = |value: &str| other.iter().any(|other| other.text == value);
                !one.iter().any(|value| is_shared(&value.text))
            }
            _ => match (kind(one), kind(other)) {
                (Some(one), Some(other)) => one != other,
                _ => false,
            },
        }
    }

    /// Whether `one` requires a property that values of `other` lack or have with another type.
    fn refuses_object(&self, steps: usize, one: &'d Object, other: &'d Object) -> bool {
        let theirs: BTreeMap<&str, &Item> = other
            .properties
            .iter()
            .map(|property| (property.name.text.as_str(), &property.value))
            .collect();
        let required = one.required_names();
        let mut properties = one.properties.iter();
        properties.any(|property| {
            let name = property.name.text.as_str();
            required.contains(name)
                && match theirs.get(name) {
                    None => other.extra.is_none(),
                    Some(item) => {
                        let both_null = property.value.nullable && item.nullable;
                        !both_null && self.refuses_within(steps, &property.value.shape, &item.shape)
                    }
                }
        })
    }
}

/// How a member of a union declares the tag.
pub(crate) enum Tag<'d> {
    /// The member is not an object with `properties`.
    NoObject,
    /// The member has no such property.
    Undeclared,
    /// The property has no list of values.
    NoEnum,
    /// The property has these values.
    Values {
        values: Vec<&'d str>,
        /// Whether it is required and never null.
        always: bool,
    },
}

fn requires(object: &Object, name: &str) -> bool {
    object.required.iter().any(|required| required.text == name)
}

/// The JSON name of the kind of value, if all values of a shape have one kind.
fn kind(shape: &Shape) -> Option<&'static str> {
    Some(match shape {
        Shape::Scalar(Scalar::Boolean) => "boolean",
        Shape::Scalar(Scalar::Integer(_) | Scalar::Float | Scalar::Double) => "number",
        Shape::Scalar(Scalar::String | Scalar::Byte | Scalar::DateTime | Scalar::Buffer)
        | Shape::Enum(_) => "string",
        Shape::List(_) => "array",
        Shape::Map(_) | Shape::Object(_) | Shape::FreeForm => "object",
        Shape::Any | Shape::Ref(_) | Shape::Union(_) => return None,
    })
}
