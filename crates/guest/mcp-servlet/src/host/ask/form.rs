//! The schema of a form, which in MCP is flat: an object of strings, numbers, booleans, and choices.

use mcp_servlet_json::{ObjectWriter, write_i64, write_raw, write_string};

use crate::const_text::refuse;
use crate::schema::{Kind, Node, Property};

/// The formats that MCP allows in forms.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The error for a field that is not flat; the name of the field follows.
const FLAT: &str = "form fields must be strings, numbers, booleans, enums without data or lists of such enums; \
    change the field `";

/// Stops the build if a form cannot show the type.
#[track_caller]
pub(super) const fn check_form(node: &Node) {
    let Kind::Object(object) = &node.kind else {
        panic!("a form is a struct with a field for each entry");
    };
    assert!(
        object.flattened.is_empty(),
        "a form has no nested or flattened structs: give it one field for each entry"
    );
    let mut at = 0;
    while at < object.properties.len() {
        let property = &object.properties[at];
        if property.in_input && !fits(&property.node.kind) {
            refuse(&[FLAT, property.name, "`"]);
        }
        if !property.limits.pattern.is_empty() {
            refuse(&[
                "form fields cannot have a `pattern`: `",
                property.name,
                "`; check the answer in the function",
            ]);
        }
        at += 1;
    }
}

const fn fits(kind: &Kind) -> bool {
    match kind {
        Kind::Boolean
        | Kind::Integer { .. }
        | Kind::Number
        | Kind::String { .. }
        | Kind::Character
        | Kind::Enum { .. }
        // The author of a handwritten schema is responsible for it.
        | Kind::Raw(_) => true,
        Kind::Array { items, .. } => matches!(items.kind, Kind::Enum { .. }),
        _ => false,
    }
}

/// The schema of the form.
pub(super) fn schema(node: &Node) -> String {
    let mut schema = ObjectWriter::new();
    schema.string("type", "object");
    let Kind::Object(object) = &node.kind else {
        schema.json("properties", "{}");
        return schema.finish();
    };
    let inputs = || {
        object
            .properties
            .iter()
            .filter(|property| property.in_input)
    };
    let mut properties = ObjectWriter::new();
    for property in inputs() {
        match property.node.kind {
            Kind::Raw(schema) => properties.json(property.name, schema.trim()),
            _ => properties.json(property.name, &entry(property)),
        }
    }
    schema.json("properties", &properties.finish());
    let mut required = inputs().filter(|property| property.required).peekable();
    if required.peek().is_some() {
        strings(
            schema.key("required"),
            required.map(|property| property.name),
        );
    }
    schema.finish()
}

/// The schema of one entry.
fn entry(property: &Property) -> String {
    let node = property.node;
    let mut schema = ObjectWriter::new();
    kind(&mut schema, &property.bounded().kind);
    for (keyword, limit) in property.limits.keywords() {
        if !limit.is_empty() {
            schema.json(keyword, limit);
        }
    }
    let description = if property.description.is_empty() {
        node.description
    } else {
        property.description
    };
    let notes = match node.kind {
        Kind::Enum { notes, .. } => notes.trim(),
        _ => "",
    };
    if !description.is_empty() || !notes.is_empty() {
        let both = [description, notes].join("\n");
        schema.string("description", both.trim());
    }
    if !property.default.is_empty() {
        schema.json("default", property.default);
    }
    schema.finish()
}

fn kind(schema: &mut ObjectWriter, kind: &Kind) {
    schema.string("type", kind.type_name());
    match kind {
        Kind::Integer { min, max } => {
            for (name, bound) in [("minimum", min), ("maximum", max)] {
                if let Some(bound) = bound {
                    write_i64(schema.key(name), *bound);
                }
            }
        }
        Kind::String { format, .. } if FORMATS.contains(format) => schema.string("format", format),
        Kind::Character => {
            schema.json("minLength", "1");
            schema.json("maxLength", "1");
        }
        Kind::Enum { values, .. } => strings(schema.key("enum"), values.iter().copied()),
        Kind::Array { items, .. } => {
            let mut of_items = ObjectWriter::new();
            self::kind(&mut of_items, &items.kind);
            schema.json("items", &of_items.finish());
        }
        _ => {}
    }
}

/// Appends a JSON array of strings.
fn strings<'a>(json: &mut String, strings: impl Iterator<Item = &'a str>) {
    write_raw(json, "[");
    for (index, text) in strings.enumerate() {
        write_raw(json, if index > 0 { "," } else { "" });
        write_string(json, text);
    }
    write_raw(json, "]");
}
