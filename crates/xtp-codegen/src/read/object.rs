//! Types with parts that have names: objects, enums, and the proposed unions.

use crate::diagnostic::{Code, Report};
use crate::document::{Item, Member, Name, Object, Property, Shape, Union};
use crate::node::Value;
use crate::read::shape::{self, Place};
use crate::read::{Cursor, Fields, Keys};
use crate::rules::Refused;

/// The tag of a union that does not name one.
const DEFAULT_TAG: &str = "type";

/// Reads an object with `properties`.
pub(super) fn read(
    depth: usize,
    fields: &Fields<'_>,
    properties: &Cursor<'_>,
    extra: Option<&Cursor<'_>>,
    report: &mut Report,
) -> Shape {
    let extra = extra.map(|values| {
        let code = Code::BeyondLibrary;
        let message = "the official library takes no object with both `properties` and `additionalProperties`";
        let by = Refused::BothNeedlessly;
        let problem = report.refused(by, code, &values.at_key(), message);
        problem.help("for other generators, move the further entries into a property of their own");
        shape::element(depth, values, Place::MapValue, report)
    });
    if let Some(ty) = fields.get("type")
        && let Value::Text(text) = ty.value()
        && text != "object"
    {
        let code = Code::TypeKeys;
        let message = format!("`properties` makes it an object, although its type is `{text}`");
        let problem = report.refused(Refused::Nobody, code, &ty.at(), message);
        problem.help("remove `type`");
    }
    let properties = match properties.value() {
        Value::Null => Vec::new(),
        _ => properties.entries(report).unwrap_or_default(),
    };
    let properties: Vec<Property> = properties
        .into_iter()
        .map(|(name, cursor)| property(depth, name, &cursor, report))
        .collect();
    let required = match fields.filled("required", "a list", report) {
        Some(required) => names(required, report).unwrap_or_default(),
        None if report.rules.unlisted_required => {
            properties.iter().map(|p| p.name.clone()).collect()
        }
        None => Vec::new(),
    };
    Shape::Object(Box::new(Object {
        properties,
        required,
        extra,
    }))
}

fn property(depth: usize, name: Name, cursor: &Cursor<'_>, report: &mut Report) -> Property {
    let mut property = Property {
        name,
        description: None,
        value: Item::ANY,
    };
    if let Value::Null | Value::Bool(_) = cursor.value() {
        let problem = cursor.wrong_kind("a map", Refused::Published, report);
        problem.help("as it is, it may be any JSON");
        return property;
    }
    if let Some(fields) = shape::fields(cursor, Place::Property, report) {
        property.description = fields.text("description", report);
        property.value = shape::read_at(depth + 1, &fields, report);
    }
    property
}

/// Reads a list of names, unless one of them is none. Where one is enough, authors forget the
/// list.
fn names(cursor: &Cursor<'_>, report: &mut Report) -> Option<Vec<Name>> {
    if let Value::Text(text) = cursor.value() {
        let problem = cursor.wrong_kind("a list", Refused::Published, report);
        problem.help(format!("write `[{text}]`, which is how it is taken"));
        return Some(cursor.name(report).into_iter().collect());
    }
    let names = cursor.list(report)?;
    let names: Vec<_> = names.iter().map(|name| name.name(report)).collect();
    names.into_iter().collect()
}

/// Reads an enum.
pub(super) fn values(fields: &Fields<'_>, values: &Cursor<'_>, report: &mut Report) -> Shape {
    if let Some(ty) = fields.get("type")
        && let Value::Text(text) = ty.value()
        && text != "string"
    {
        let message = format!("an enum has type `string`, not `{text}`");
        let code = Code::TypeKeys;
        let problem = report.refused(Refused::Published, code, &ty.at(), message);
        problem.help("remove `type`");
    }
    names(values, report).map_or(Shape::Any, Shape::Enum)
}

/// Reads a union, which is a proposal and in neither set of rules.
pub(super) fn union(fields: &Fields<'_>, members: &Cursor<'_>, report: &mut Report) -> Shape {
    let (tag, mapping) = discriminator(fields, report);
    let members = members.list(report).unwrap_or_default();
    let members = members.iter().filter_map(|cursor| {
        let target = member(cursor, report)?;
        let value = mapping.iter().find(|(_, name)| name.text == target.text);
        let value = value.map_or_else(|| target.text.clone(), |(value, _)| value.clone());
        Some(Member { value, target })
    });
    let members: Vec<_> = members.collect();
    for (value, target) in &mapping {
        let name = &target.text;
        match members.iter().find(|member| member.target.text == *name) {
            None => {
                let message = format!("`{name}` is no member of the union");
                let problem = report.error(Code::Union, &target.at, message);
                problem.help("list it under `oneOf`, or remove it from `mapping`");
            }
            Some(member) if member.value != *value => {
                let message = format!("`{name}` is tagged `{}` already", member.value);
                let problem = report.error(Code::Union, &target.at, message);
                problem.help("a member has one tag; a schema of its own can have another one");
            }
            Some(_) => {}
        }
    }
    Shape::Union(Box::new(Union {
        members,
        at: fields.whole.at_key(),
        tag,
    }))
}

fn member(cursor: &Cursor<'_>, report: &mut Report) -> Option<Name> {
    let keys = Keys {
        what: "a member of `oneOf`",
        published: &["$ref", "description"],
        beyond: &[],
    };
    let fields = Fields::read(cursor, &keys, report)?;
    let Some(target) = fields.get("$ref") else {
        let message = "a member of `oneOf` is a `$ref` to an object";
        let problem = report.error(Code::Unsupported, &cursor.at(), message);
        problem.help("give the type a name under `components.schemas`");
        return None;
    };
    let text = target.text(report)?;
    shape::target(target, text, report)
}

/// The tag of a union, and what it says for each schema where that is not the schema's name.
fn discriminator(fields: &Fields<'_>, report: &mut Report) -> (String, Vec<(String, Name)>) {
    let keys = Keys {
        what: "`discriminator`",
        published: &["propertyName", "mapping"],
        beyond: &[],
    };
    let cursor = fields.get("discriminator");
    let Some(fields) = cursor.and_then(|cursor| Fields::read(cursor, &keys, report)) else {
        return (DEFAULT_TAG.to_owned(), Vec::new());
    };
    let tag = fields.required("propertyName", report);
    let tag = tag.and_then(|tag| tag.text(report));
    let mapping = fields.get("mapping").and_then(|map| map.entries(report));
    let mapping = mapping.unwrap_or_default();
    let mapping = mapping.into_iter().filter_map(|(value, cursor)| {
        let target = shape::target(&cursor, cursor.text(report)?, report)?;
        Some((value.text, target))
    });
    (tag.unwrap_or(DEFAULT_TAG).to_owned(), mapping.collect())
}
