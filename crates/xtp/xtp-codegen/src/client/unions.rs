//! Values that have one of several forms.

use serde_json::Value;

use super::forms::{self, Form, Json};
use super::names::{ty, variant};
use super::walk::{ANY, Members, Name, Walk};
use crate::ir::{Item, Kind, Names, Tagging, Type, Union};
use crate::names::Taken;

/// The most forms that a value may have.
const MAX_FORMS: usize = 16;

impl Walk<'_> {
    /// The type of a value that has one of several forms.
    pub(super) fn forms(
        &mut self,
        forms: Vec<Form>,
        members: &Members,
        at: &str,
        name: &Name,
    ) -> Item {
        let count = forms.len();
        let forms: Vec<_> = forms.into_iter().filter(|form| !form.is_null()).collect();
        let nullable = forms.len() < count;
        let with_null = |item: Item| Item {
            nullable: item.nullable || nullable,
            ..item
        };
        if forms.is_empty() && nullable {
            return ANY;
        }
        if forms.len() > MAX_FORMS {
            return self.any(at, "it has too many forms");
        }
        if let [form] = &forms[..] {
            return with_null(self.item(&form.schema, &form.at, name));
        }
        if let Some(texts) = forms::texts(&forms) {
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            let ty = self.enumerated(&texts, members, at, name);
            return Item { ty, nullable };
        }
        let tag = forms::tag(&forms);
        let ty = if let Some((tag, values)) = &tag {
            self.define(members, at, name, None, |walk, name| {
                walk.tagged(tag, &forms, values, name)
            })
        } else if forms::are_distinct(&forms) {
            self.define(members, at, name, None, |walk, name| {
                walk.untagged(&forms, name)
            })
        } else if let Some(scalar) = forms::scalar(&forms) {
            Type::Scalar(scalar)
        } else if let Some(first) = forms::only_one(&forms) {
            return with_null(self.item(&first.schema, &first.at, name));
        } else {
            return self.any(at, "no property tells its forms apart");
        };
        Item { ty, nullable }
    }

    /// The union of objects that a property tells apart.
    fn tagged(&mut self, tag: &str, forms: &[Form], values: &[String], name: &Name) -> Kind {
        let mut taken = Taken::default();
        let mut members = Vec::new();
        for (form, value) in forms.iter().zip(values) {
            let variant = taken.take(&variant(value));
            let name = match &form.definition {
                Some(definition) => {
                    let short = ty(definition);
                    let long = name.part(&short);
                    Name::Definition(short, long.path().to_owned())
                }
                None => name.part(&variant),
            };
            let Value::Object(object) = &form.resolved else {
                continue;
            };
            self.warn_of_left_out(object, &form.at);
            let content = self.object(object, &form.at, &name, Some(tag));
            let wire = value.clone();
            members.push((
                Names {
                    wire,
                    rust: variant,
                },
                content,
            ));
        }
        Kind::Union(Union {
            tagging: Tagging::Union(tag.to_owned()),
            members,
        })
    }

    /// The union of forms that are different types of JSON.
    fn untagged(&mut self, forms: &[Form], name: &Name) -> Kind {
        let members = forms.iter().filter_map(|form| {
            let kind = form.kind?;
            let (variant, what) = kind.variant();
            let item = self.item(&form.schema, &form.at, &name.part(variant));
            // Any JSON would accept the other forms, too.
            let ty = match (item.ty, kind) {
                (Type::Any, Json::Object) => Type::FreeForm,
                (Type::Any, Json::Array) => Type::List(Box::new(ANY)),
                (ty, _) => ty,
            };
            let (wire, rust) = (what.to_owned(), variant.to_owned());
            Some((Names { wire, rust }, ty))
        });
        Kind::Union(Union {
            members: members.collect(),
            tagging: Tagging::Content,
        })
    }
}
