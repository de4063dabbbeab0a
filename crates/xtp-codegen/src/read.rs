//! From nodes to a document: every key is known at its place and has a value of the right kind.

mod cursor;
mod function;
mod schema;
mod shape;

pub(crate) use self::cursor::{Cursor, Fields};
use crate::diagnostic::{Code, Report};
use crate::document::Document;

/// Reads what can be read of a document, and reports the rest.
pub(crate) fn read(root: &Cursor<'_>, report: &mut Report) -> Document {
    let mut document = Document::default();
    let allowed = ["version", "exports", "imports", "components"];
    let Some(fields) = Fields::read(root, "an XTP document", &allowed, report) else {
        return document;
    };
    if !version(&fields, report) {
        return document;
    }
    // The published rules want `exports`, the official library does without.
    if let Some(exports) = fields.required("exports", report) {
        function::read_all(&exports, function::Kind::Export, report, &mut document);
    }
    if let Some(imports) = fields.get("imports") {
        function::read_all(imports, function::Kind::Import, report, &mut document);
    }
    if let Some(components) = fields.get("components") {
        schema::read_all(components, report, &mut document);
    }
    document
}

/// Checks the version; the rest of another version means nothing to us.
fn version(fields: &Fields<'_>, report: &mut Report) -> bool {
    let Some(version) = fields.required("version", report) else {
        return false;
    };
    match version.text(report) {
        Some("v1-draft") => return true,
        Some("v0") => {
            let message = "version `v0` has no types";
            let problem = report.error(Code::Unsupported, &version.at(), message);
            problem.help("describe the exports as in version `v1-draft`");
        }
        Some(other) => {
            let message = format!("version `{other}` is not one of XTP");
            let problem = report.error(Code::Version, &version.at(), message);
            problem.help("write `version: v1-draft`");
        }
        None => {}
    }
    false
}
