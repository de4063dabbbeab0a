//! All keys of a type, as the official library checks them, whichever of them decides.

use crate::diagnostic::{Code, Report};
use crate::document::Name;
use crate::node::Value;
use crate::read::shape::{self, Place, object};
use crate::read::{Cursor, Fields, simple};

/// Reads every key that a map has as a type. Returns the names in it, and the schema that it refers to.
pub(crate) fn every_key(fields: &Fields<'_>, report: &mut Report) -> (Vec<Name>, Option<Name>) {
    let ty = simple::ty(fields, report);
    simple::format(fields, ty, report);
    let values = shape::map_values(fields, report);
    if let Some(values) = &values {
        shape::expect_object(fields, values, ty, report);
        expect_type(values, Place::MapValue, report);
    }
    if let Some(items) = fields.filled("items", "a type", report) {
        expect_type(items, Place::Element, report);
    }
    let mut names = Vec::new();
    if let Some(values) = fields.filled("enum", "a list", report) {
        names.extend(list(values, report));
    }
    if let Some(properties) = shape::properties(fields, report)
        && has_keys(properties)
    {
        if let Some(values) = &values {
            object::expect_no_extra(values, report);
        }
        names.extend(property_names(fields, properties, report));
    }
    let target = fields
        .filled("$ref", "a reference", report)
        .and_then(|target| shape::target(target, target.text(report)?, report));
    (names, target)
}

/// Checks that a value can be a type. The library looks into maps only.
fn expect_type(cursor: &Cursor<'_>, place: Place, report: &mut Report) {
    if !matches!(cursor.value(), Value::List(_)) && !shape::is_anything(cursor, place, report) {
        cursor.entries(report);
    }
}

/// Whether the library finds names in a value. It takes a list and a text for maps, with indices as keys.
fn has_keys(properties: &Cursor<'_>) -> bool {
    match properties.value() {
        Value::Map(entries) => !entries.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Text(text) => !text.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The names of all properties. A property without a value counts as undefined.
fn property_names(fields: &Fields<'_>, properties: &Cursor<'_>, report: &mut Report) -> Vec<Name> {
    let entries = properties.entries(report).unwrap_or_default();
    if let Some(required) = fields.filled("required", "a list", report) {
        for name in list(required, report) {
            let mut entries = entries.iter();
            if !entries.any(|(found, value)| found.text == name.text && value.value().is_truthy()) {
                let message = format!("`{}` is required but not defined", name.text.escape_debug());
                report.error(Code::Required, &name.at, message);
            }
        }
    }
    entries.into_iter().map(|(name, _)| name).collect()
}

/// A list of names. The library takes a text for the list of its characters.
fn list(cursor: &Cursor<'_>, report: &mut Report) -> Vec<Name> {
    let Value::Text(text) = cursor.value() else {
        return object::names(cursor, report).unwrap_or_default();
    };
    let at = cursor.at();
    let names = text.chars().map(|character| Name {
        text: character.to_string(),
        at: at.clone(),
    });
    names.collect()
}
