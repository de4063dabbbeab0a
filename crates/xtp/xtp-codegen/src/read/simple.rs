//! Types without parts: the keys `type` and `format`.

use crate::diagnostic::{Code, Report};
use crate::document::{Item, Scalar, Shape};
use crate::node::Value;
use crate::read::Fields;
use crate::rules::Rule;
use crate::suggest;

/// Every type of XTP, with the formats that the library allows for it.
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

/// Types of other languages, with their names in XTP.
const FOREIGN: [(&str, &str); 14] = [
    ("bool", "type: boolean"),
    ("bytes", "type: buffer"),
    ("char", "type: string"),
    ("date", "type: string, format: date-time"),
    ("date-time", "type: string, format: date-time"),
    ("dict", "type: object"),
    ("double", "type: number, format: double"),
    ("float", "type: number, format: float"),
    ("int", "type: integer"),
    ("list", "type: array"),
    ("map", "type: object"),
    ("null", "nullable: true"),
    ("str", "type: string"),
    ("text", "type: string"),
];

/// The formats of the published rules, which allow them for every type.
const PUBLISHED: [&str; 6] = ["int32", "int64", "float", "double", "date-time", "byte"];

/// Reads `type`, if it is present and a type of XTP.
pub(super) fn ty(fields: &Fields<'_>, report: &mut Report) -> Option<&'static str> {
    let cursor = fields.filled("type", "a type", report)?;
    let found = match cursor.value() {
        Value::Text(text) => {
            if let Some((known, _)) = TYPES.iter().find(|(known, _)| known == text) {
                return Some(known);
            }
            format!("type `{}`", text.escape_debug())
        }
        other => other.kind().to_owned(),
    };
    let at = cursor.at();
    let problem = report.error(
        Code::UnknownType,
        &at,
        format!("{found} is not a type of XTP"),
    );
    match cursor.value() {
        Value::List(_) => problem.help("write one type, and `nullable: true` if it may be null"),
        Value::Text(text) => problem.help(type_help(text)),
        _ => problem.help(type_help("")),
    }
    None
}

/// The help for a type that XTP does not have.
fn type_help(text: &str) -> String {
    if let Some((_, suggestion)) = FOREIGN.iter().find(|(foreign, _)| *foreign == text) {
        return format!("write `{suggestion}`");
    }
    let known = TYPES.map(|(known, _)| known);
    suggest::help(text, &known, |known| format!("use one of {known}"))
}

/// Reads `format`, if it is present and refines the type.
pub(super) fn format(
    fields: &Fields<'_>,
    ty: Option<&'static str>,
    report: &mut Report,
) -> Option<&'static str> {
    let cursor = fields.filled("format", "a format", report)?;
    let name = cursor.text(report)?;
    if ty.is_none() && fields.has("type") {
        return None;
    }
    let formats = TYPES
        .iter()
        .find(|(known, _)| Some(*known) == ty)
        .map_or(&[][..], |(_, formats)| *formats);
    let at = cursor.at();
    if let Some(known) = formats.iter().find(|known| **known == name) {
        if !PUBLISHED.contains(&name) {
            let message = format!("by the published rules, there is no format `{name}`");
            let problem = report.add(Rule::Published, Code::BeyondPublished, &at, message);
            problem.help("the official library knows it, and so does this generator");
        }
        return Some(known);
    }
    let code = Code::Format;
    let shown = name.escape_debug();
    let (message, refused) = match ty {
        // The published rules allow any format for any type.
        Some(ty) if PUBLISHED.contains(&name) => (
            format!("format `{shown}` does not fit type `{ty}`"),
            Rule::Library,
        ),
        Some(ty) => (format!("type `{ty}` has no format `{shown}`"), Rule::Always),
        None => (format!("format `{shown}` needs a type"), Rule::Always),
    };
    let problem = report.add(refused, code, &at, message);
    problem.help(match (ty, formats) {
        (None, _) => "add `type`".to_owned(),
        (Some(ty), []) => format!("remove it; type `{ty}` has no formats"),
        // Other widths look similar, but are not typos, so list all formats.
        (Some(_), _) if name.ends_with(|c: char| c.is_ascii_digit()) => {
            format!("use one of {}", suggest::listed(formats))
        }
        (Some(_), _) => suggest::help(name, formats, |known| format!("use one of {known}")),
    });
    None
}

/// The type of `type` and `format`, if no other key decides.
pub(super) fn shape(
    fields: &Fields<'_>,
    ty: Option<&str>,
    format: Option<&'static str>,
    report: &mut Report,
) -> Shape {
    let Some(ty) = ty else {
        // A union that is not enabled has its own problem.
        if !fields.has_any(&["type", "oneOf"]) {
            missing_type(fields, report);
        }
        return Shape::Any;
    };
    let scalar = match (ty, format) {
        ("string", Some("date-time")) => Scalar::DateTime,
        ("string", Some("byte")) => Scalar::Byte,
        ("string", _) => Scalar::String,
        ("number", Some("float")) => Scalar::Float,
        ("number", _) => Scalar::Double,
        ("integer", Some(format)) => Scalar::Integer(integer(format)),
        ("integer", None) => Scalar::Integer("i64"),
        ("boolean", _) => Scalar::Boolean,
        ("buffer", _) => Scalar::Buffer,
        ("object", _) => return Shape::FreeForm,
        // Only `array` is left.
        _ => {
            let at = fields.whole.at_key();
            let message = "the array has no `items`";
            let problem = report.add(Rule::Lint, Code::TypeKeys, &at, message);
            problem.help("add `items`; without it, elements are any JSON");
            return Shape::List(Box::new(Item::ANY));
        }
    };
    Shape::Scalar(scalar)
}

fn integer(format: &str) -> &'static str {
    match format {
        "uint8" => "u8",
        "int8" => "i8",
        "uint16" => "u16",
        "int16" => "i16",
        "uint32" => "u32",
        "int32" => "i32",
        "uint64" => "u64",
        _ => "i64",
    }
}

fn missing_type(fields: &Fields<'_>, report: &mut Report) {
    let at = fields.whole.at_key();
    let message = "the type is missing";
    let problem = report.add(Rule::Published, Code::MissingKey, &at, message);
    problem.help("add `type` or `$ref`; without them it is any JSON");
}
