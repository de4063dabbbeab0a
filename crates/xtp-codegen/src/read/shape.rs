//! Types, wherever they stand: in properties, parameters, lists and maps.

use crate::diagnostic::{Code, Report};
use crate::document::{Item, Name, Scalar, Shape};
use crate::read::{Cursor, Fields};

/// Every type of XTP, with the formats that refine it.
const TYPES: [(&str, &[&str]); 7] = [
    ("string", &["date-time", "byte"]),
    ("number", &["float", "double"]),
    (
        "integer",
        &[
            "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
        ],
    ),
    ("boolean", &[]),
    ("object", &[]),
    ("array", &[]),
    ("buffer", &[]),
];

/// How deep lists and maps may nest in each other. Whoever needs more needs a name in between.
const MAX_DEPTH: usize = 16;

/// Where a type stands, which decides about its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Schema,
    Property,
    Parameter,
    Element,
}

impl Place {
    fn what(self) -> &'static str {
        match self {
            Self::Schema => "a schema",
            Self::Property => "a property",
            Self::Parameter => "a parameter",
            Self::Element => "an element",
        }
    }

    /// The keys that a type can have here. Inline enums and objects are known in order to be
    /// refused with their own message.
    fn keys(self) -> Vec<&'static str> {
        let mut keys = vec!["type", "format", "description", "$ref"];
        keys.extend(["items", "additionalProperties", "properties", "enum"]);
        match self {
            Self::Schema => keys.push("required"),
            Self::Parameter => keys.extend(["nullable", "contentType"]),
            Self::Property | Self::Element => keys.push("nullable"),
        }
        keys
    }
}

/// Reads the keys of a type.
pub(crate) fn fields<'a>(
    cursor: &Cursor<'a>,
    place: Place,
    report: &mut Report,
) -> Option<Fields<'a>> {
    Fields::read(cursor, place.what(), &place.keys(), report)
}

/// Reads a type from its keys.
pub(crate) fn read(fields: &Fields<'_>, report: &mut Report) -> Item {
    read_at(0, fields, report)
}

fn read_at(depth: usize, fields: &Fields<'_>, report: &mut Report) -> Item {
    let nullable = fields.get("nullable");
    let nullable = nullable.and_then(|value| value.boolean(report));
    Item {
        shape: shape(depth, fields, report),
        nullable: nullable.unwrap_or(false),
    }
}

fn shape(depth: usize, fields: &Fields<'_>, report: &mut Report) -> Shape {
    if let Some(target) = fields.get("$ref") {
        let shapes = ["type", "format", "items", "additionalProperties"];
        exclude(fields, "$ref", &shapes, report);
        exclude(fields, "$ref", &["enum", "properties"], report);
        return reference(target, report);
    }
    for key in ["enum", "properties"] {
        if let Some(inline) = fields.get(key) {
            let message = format!("`{key}` is only understood in a schema so far");
            let problem = report.error(Code::Unsupported, &inline.at_key(), message);
            problem.help("give it a name under `components.schemas` and use `$ref`");
            return Shape::Unread;
        }
    }
    if let Some(values) = fields.get("additionalProperties") {
        if fields.get("type").is_none() {
            let message = "`additionalProperties` needs type `object`";
            let problem = report.error(Code::TypeKeys, &values.at_key(), message);
            problem.help("add `type: object` beside it");
        }
        expect_type(fields, "additionalProperties", "object", report);
        exclude(fields, "additionalProperties", &["items", "format"], report);
        return Shape::Map(Box::new(element(depth, values, report)));
    }
    if let Some(items) = fields.get("items") {
        expect_type(fields, "items", "array", report);
        exclude(fields, "items", &["format"], report);
        return Shape::List(Box::new(element(depth, items, report)));
    }
    simple(fields, report)
}

fn element(depth: usize, cursor: &Cursor<'_>, report: &mut Report) -> Item {
    if depth == MAX_DEPTH {
        let message = "lists and maps nest too deeply";
        let problem = report.error(Code::TooDeep, &cursor.at_key(), message);
        problem.help("give the inner type a name under `components.schemas`");
        return Item::UNREAD;
    }
    let fields = fields(cursor, Place::Element, report);
    fields.map_or(Item::UNREAD, |fields| read_at(depth + 1, &fields, report))
}

/// A type that has no parts in the schema.
fn simple(fields: &Fields<'_>, report: &mut Report) -> Shape {
    let Some(ty) = fields.required("type", report) else {
        return Shape::Unread;
    };
    let Some(name) = ty.text(report) else {
        return Shape::Unread;
    };
    let Some((ty_name, formats)) = TYPES.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = TYPES.iter().map(|(known, _)| *known).collect();
        let message = format!("type `{name}` is not one of XTP");
        let problem = report.error(Code::UnknownType, &ty.at(), message);
        problem.help(format!("use one of `{}`", known.join("`, `")));
        return Shape::Unread;
    };
    let format = format(fields, ty_name, formats, report);
    match *ty_name {
        "object" => Shape::FreeForm,
        "array" => {
            let message = "an array needs `items`";
            report.error(Code::TypeKeys, &fields.whole.at_key(), message);
            Shape::Unread
        }
        "buffer" => {
            let message = "type `buffer` is not supported yet";
            let problem = report.error(Code::Unsupported, &ty.at(), message);
            problem.help("use `type: string` with `format: byte`");
            Shape::Unread
        }
        ty => Shape::Scalar(Scalar { ty, format }),
    }
}

fn format(
    fields: &Fields<'_>,
    ty: &str,
    formats: &[&'static str],
    report: &mut Report,
) -> Option<&'static str> {
    let format = fields.get("format")?;
    let name = format.text(report)?;
    let known = formats.iter().find(|known| **known == name).copied();
    if known.is_none() {
        let message = format!("format `{name}` does not fit type `{ty}`");
        let problem = report.error(Code::Format, &format.at(), message);
        problem.help(match formats {
            [] => format!("type `{ty}` has no formats"),
            _ => format!("use one of `{}`", formats.join("`, `")),
        });
    }
    known
}

fn reference(cursor: &Cursor<'_>, report: &mut Report) -> Shape {
    let Some(text) = cursor.text(report) else {
        return Shape::Unread;
    };
    let name = text.strip_prefix("#/components/schemas/");
    let Some(name) = name.filter(|name| !name.is_empty() && !name.contains('/')) else {
        let message = format!("`{text}` does not point to a schema");
        let problem = report.error(Code::RefForm, &cursor.at(), message);
        problem.help("write `#/components/schemas/<Name>`");
        return Shape::Unread;
    };
    Shape::Ref(Name {
        text: name.to_owned(),
        at: cursor.at(),
    })
}

/// Reports each of `others` that stands beside `key`.
pub(crate) fn exclude(fields: &Fields<'_>, key: &str, others: &[&str], report: &mut Report) {
    for other in others {
        if let Some(found) = fields.get(other) {
            let message = format!("`{other}` has no meaning beside `{key}`");
            let problem = report.error(Code::TypeKeys, &found.at_key(), message);
            problem.help(format!("remove `{other}` or `{key}`"));
        }
    }
}

/// Reports a `type` that does not go with `key`.
pub(crate) fn expect_type(fields: &Fields<'_>, key: &str, wanted: &str, report: &mut Report) {
    let Some(ty) = fields.get("type") else {
        return;
    };
    match ty.text(report) {
        Some(found) if found != wanted => {
            let message = format!("`{key}` needs type `{wanted}`, not `{found}`");
            report.error(Code::TypeKeys, &ty.at(), message);
        }
        Some(_) | None => {}
    }
}
