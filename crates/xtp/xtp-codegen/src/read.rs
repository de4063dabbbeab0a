//! Reads nodes into a document, in which every key is known and has a value of the right kind.
//!
//! Reports what it cannot understand, leaves it out, and reads the rest.

mod cursor;
mod function;
mod schema;
mod shape;
mod simple;

pub(crate) use self::cursor::{Cursor, Fields, Keys};
pub(crate) use self::shape::every_key;
use crate::diagnostic::{Code, Report};
use crate::document::{Document, Version};
use crate::node::Value;
use crate::rules::Rule;

/// Reads what can be read of a document, and reports the rest.
pub(crate) fn read(root: &Cursor<'_>, report: &mut Report) -> Document {
    let mut document = Document::default();
    let Some(fields) = Fields::new(root, report) else {
        return document;
    };
    let Some(version) = version(&fields, report) else {
        return document;
    };
    document.version = version;
    match version {
        Version::V0 => function::read_names(&fields, report, &mut document),
        Version::V1 => read_v1(&fields, report, &mut document),
    }
    document
}

fn read_v1(fields: &Fields<'_>, report: &mut Report, document: &mut Document) {
    let keys = Keys {
        what: "an XTP document",
        published: &["version", "exports", "imports", "components"],
        beyond: &[],
    };
    fields.expect(&keys, report);
    fields.wanted("exports", Rule::Published, report);
    for (key, kind) in [
        ("exports", function::Kind::Export),
        ("imports", function::Kind::Import),
    ] {
        if let Some(functions) = fields.filled(key, "a map", report) {
            let functions = function::read_all(functions, kind, report);
            match kind {
                function::Kind::Export => document.exports = functions,
                function::Kind::Import => document.imports = functions,
            }
        }
    }
    if let Some(components) = fields.filled("components", "a map", report) {
        schema::read_all(components, report, document);
    }
}

/// Reads the version. The rest of a document of another version is not read.
fn version(fields: &Fields<'_>, report: &mut Report) -> Option<Version> {
    let version = fields.required("version", report)?;
    let found = match version.value() {
        Value::Text(text) if text == "v0" => return Some(Version::V0),
        Value::Text(text) if text == "v1-draft" => return Some(Version::V1),
        Value::Text(text) => format!("version `{}`", text.escape_debug()),
        other => other.kind().to_owned(),
    };
    let message = format!("{found} is not a version of XTP");
    let problem = report.error(Code::Version, &version.at(), message);
    problem.help("write `version: v1-draft`");
    None
}
