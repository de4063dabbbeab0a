//! The entries of `components.schemas`.

use crate::diagnostic::{Code, Report};
use crate::document::{Body, Document, Item, Name, Property, Schema};
use crate::read::shape::{self, Place};
use crate::read::{Cursor, Fields};

pub(crate) fn read_all(components: &Cursor<'_>, report: &mut Report, document: &mut Document) {
    let Some(fields) = Fields::read(components, "`components`", &["schemas"], report) else {
        return;
    };
    let Some(schemas) = fields.required("schemas", report) else {
        return;
    };
    for (name, cursor) in schemas.entries(report).unwrap_or_default() {
        let schema = read_one(name, &cursor, report);
        document.schemas.push(schema);
    }
}

fn read_one(name: Name, cursor: &Cursor<'_>, report: &mut Report) -> Schema {
    let Some(fields) = shape::fields(cursor, Place::Schema, report) else {
        let (description, body) = (None, Body::Unread);
        return Schema {
            name,
            description,
            body,
        };
    };
    let description = fields.text("description", report);
    let body = if let Some(properties) = fields.get("properties") {
        object(&fields, properties, report)
    } else if let Some(values) = fields.get("enum") {
        enumeration(&fields, values, report)
    } else {
        alias(&fields, report)
    };
    Schema {
        name,
        description,
        body,
    }
}

fn object(fields: &Fields<'_>, properties: &Cursor<'_>, report: &mut Report) -> Body {
    shape::exclude(
        fields,
        "properties",
        &["enum", "items", "$ref", "format"],
        report,
    );
    shape::expect_type(fields, "properties", "object", report);
    if let Some(extra) = fields.get("additionalProperties") {
        let message = "an object cannot have `properties` and `additionalProperties`";
        let problem = report.error(Code::TypeKeys, &extra.at_key(), message);
        problem.help("move the further entries into a property of their own");
    }
    let properties = properties.entries(report).unwrap_or_default();
    let properties = properties
        .into_iter()
        .map(|(name, cursor)| property(name, &cursor, report))
        .collect();
    let required = fields.get("required").and_then(|list| list.list(report));
    let required = required.unwrap_or_default();
    let required = required.iter().filter_map(|name| name.name(report));
    Body::Object {
        properties,
        required: required.collect(),
    }
}

fn property(name: Name, cursor: &Cursor<'_>, report: &mut Report) -> Property {
    let fields = shape::fields(cursor, Place::Property, report);
    let description = fields
        .as_ref()
        .and_then(|fields| fields.text("description", report));
    Property {
        name,
        description,
        value: fields.map_or(Item::UNREAD, |fields| shape::read(&fields, report)),
    }
}

fn enumeration(fields: &Fields<'_>, values: &Cursor<'_>, report: &mut Report) -> Body {
    let others = [
        "items",
        "$ref",
        "format",
        "additionalProperties",
        "required",
    ];
    shape::exclude(fields, "enum", &others, report);
    shape::expect_type(fields, "enum", "string", report);
    let Some(list) = values.list(report) else {
        return Body::Unread;
    };
    let values: Vec<_> = list.iter().map(|value| value.name(report)).collect();
    let values: Option<Vec<_>> = values.into_iter().collect();
    values.map_or(Body::Unread, |values| Body::Enum { values })
}

/// A schema that is neither object nor enum. The official library takes it, the published
/// rules do not.
fn alias(fields: &Fields<'_>, report: &mut Report) -> Body {
    let message = "only objects with `properties` and enums can be schemas so far";
    let problem = report.error(Code::Unsupported, &fields.whole.at_key(), message);
    problem.help("describe the type where it is used");
    Body::Unread
}
