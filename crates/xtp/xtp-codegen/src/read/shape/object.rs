//! Types with named parts: objects and enums.

use crate::diagnostic::{Code, Report};
use crate::document::{Item, Name, Object, Property, Shape};
use crate::node::Value;
use crate::read::shape::{self, Place};
use crate::read::{Cursor, Fields};
use crate::rules::Rule;

/// Reads an object with `properties`.
pub(super) fn read(
    depth: usize,
    fields: &Fields<'_>,
    properties: &Cursor<'_>,
    extra: Option<&Cursor<'_>>,
    report: &mut Report,
) -> Shape {
    let extra = extra.map(|values| {
        if let Value::Map(_) = properties.value() {
            expect_no_extra(values, report);
        }
        shape::element(depth, values, Place::MapValue, report)
    });
    if let Some(ty) = fields.get("type")
        && let Value::Text(text) = ty.value()
        && text != "object"
    {
        let code = Code::TypeKeys;
        let message = format!("`properties` makes it an object, although its type is `{text}`");
        let problem = report.add(Rule::Lint, code, &ty.at(), message);
        problem.help("remove `type`");
    }
    let entries = match properties.value() {
        Value::Null => Vec::new(),
        _ => properties.entries(report).unwrap_or_default(),
    };
    let properties: Vec<Property> = entries
        .into_iter()
        .map(|(name, cursor)| property(depth, name, &cursor, report))
        .collect();
    let required = match fields.filled("required", "a list", report) {
        Some(required) => names(required, report).unwrap_or_default(),
        None if report.options.unlisted_required => {
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

/// Reports the type of further properties next to fixed ones.
pub(super) fn expect_no_extra(values: &Cursor<'_>, report: &mut Report) {
    let code = Code::BeyondLibrary;
    let message = "the official library does not support objects with both `properties` and `additionalProperties`";
    let rule = Rule::BothNeedlessly;
    let problem = report.add(rule, code, &values.at_key(), message);
    problem.help("for other generators, move the further entries into a property of their own");
}

fn property(depth: usize, name: Name, cursor: &Cursor<'_>, report: &mut Report) -> Property {
    let mut property = Property {
        name,
        description: None,
        value: Item::ANY,
    };
    if let Value::Null | Value::Bool(_) = cursor.value() {
        let problem = cursor.wrong_kind("a map", Rule::Published, report);
        problem.help(
            "write a map, such as `{type: string}`; as written, the property accepts any JSON",
        );
        return property;
    }
    if let Some(fields) = shape::fields(cursor, Place::Property, report) {
        property.description = fields.text("description", report);
        property.value = shape::read_at(depth + 1, &fields, report);
    }
    property
}

/// Reads a list of names, unless an entry is not a name. Authors of a single name often forget the list.
pub(super) fn names(cursor: &Cursor<'_>, report: &mut Report) -> Option<Vec<Name>> {
    if let Value::Text(text) = cursor.value() {
        let problem = cursor.wrong_kind("a list", Rule::Published, report);
        problem.help(format!("write `[{text}]`, which is how it is read"));
        return Some(cursor.name(report).into_iter().collect());
    }
    // Every name is read before a wrong one decides, so that each has its problem.
    let names: Vec<_> = cursor
        .list(report)?
        .iter()
        .map(|name| name.name(report))
        .collect();
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
        let problem = report.add(Rule::Published, code, &ty.at(), message);
        problem.help("remove `type`");
    }
    names(values, report).map_or(Shape::Any, Shape::Enum)
}
