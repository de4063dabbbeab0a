//! The schema of a form, which in MCP is flat: an object of strings, numbers, booleans, and choices.

use mcp_servlet_json::{write_i64, write_raw, write_string};

use crate::const_text::refuse;
use crate::schema::{Kind, Node, Object, Property};

/// The formats that MCP allows in forms.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The error for a field that is not flat; the name of the field follows.
const FLAT: &str = "form fields must be strings, numbers, booleans, enums without data or lists of such enums; \
    change the field `";

/// Stops the build if a form cannot show the type.
#[track_caller]
pub(super) const fn check(node: &Node) {
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
                "form fields cannot have a `pattern`: check the answer to `",
                property.name,
                "` in the function",
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

/// Appends the schema of the form.
pub(super) fn write(json: &mut String, node: &Node) {
    write_raw(json, "{\"type\":\"object\",\"properties\":{");
    if let Kind::Object(object) = &node.kind {
        let inputs = object
            .properties
            .iter()
            .filter(|property| property.in_input);
        for (index, property) in inputs.enumerate() {
            write_raw(json, if index > 0 { "," } else { "" });
            write_string(json, property.name);
            write_raw(json, ":{");
            entry(json, property);
            write_raw(json, "}");
        }
        write_raw(json, "}");
        required(json, object);
    } else {
        write_raw(json, "}");
    }
    write_raw(json, "}");
}

fn required(json: &mut String, object: &Object) {
    let mut start = ",\"required\":[";
    for property in object
        .properties
        .iter()
        .filter(|property| property.in_input && property.required)
    {
        write_raw(json, start);
        write_string(json, property.name);
        start = ",";
    }
    write_raw(json, if start == "," { "]" } else { "" });
}

/// The members of one entry's schema.
fn entry(json: &mut String, property: &Property) {
    let node = property.node;
    if let Kind::Raw(schema) = node.kind {
        let inside = schema
            .trim()
            .strip_prefix('{')
            .and_then(|schema| schema.strip_suffix('}'));
        write_raw(json, inside.unwrap_or_default());
        return;
    }
    kind(json, &property.bounded().kind);
    for (keyword, limit) in property.limits.keywords() {
        if !limit.is_empty() {
            write_raw(json, ",");
            write_string(json, keyword);
            write_raw(json, ":");
            write_raw(json, limit);
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
        write_raw(json, ",\"description\":");
        write_string(json, both.trim());
    }
    if !property.default.is_empty() {
        write_raw(json, ",\"default\":");
        write_raw(json, property.default);
    }
}

fn kind(json: &mut String, kind: &Kind) {
    let name = match kind {
        Kind::Boolean => "boolean",
        Kind::Integer { .. } => "integer",
        Kind::Number => "number",
        Kind::Array { .. } => "array",
        _ => "string",
    };
    write_raw(json, "\"type\":");
    write_string(json, name);
    match kind {
        Kind::Integer { min, max } => {
            for (name, bound) in [(",\"minimum\":", min), (",\"maximum\":", max)] {
                if let Some(bound) = bound {
                    write_raw(json, name);
                    write_i64(json, *bound);
                }
            }
        }
        Kind::String { format, .. } if FORMATS.contains(format) => {
            write_raw(json, ",\"format\":");
            write_string(json, format);
        }
        Kind::Character => write_raw(json, ",\"minLength\":1,\"maxLength\":1"),
        Kind::Enum { values, .. } => choices(json, values),
        Kind::Array { items, .. } => {
            write_raw(json, ",\"items\":{\"type\":\"string\"");
            if let Kind::Enum { values, .. } = &items.kind {
                choices(json, values);
            }
            write_raw(json, "}");
        }
        _ => {}
    }
}

fn choices(json: &mut String, values: &[&str]) {
    write_raw(json, ",\"enum\":[");
    for (index, value) in values.iter().enumerate() {
        write_raw(json, if index > 0 { "," } else { "" });
        write_string(json, value);
    }
    write_raw(json, "]");
}
