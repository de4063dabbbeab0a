//! Exports and imports.

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Function, Name, Shape};
use crate::read::shape::{self, Place};
use crate::read::{Cursor, Fields};

/// How payloads may be encoded; other spellings mean raw bytes to some readers.
const CONTENT_TYPES: [&str; 3] = [
    "application/json",
    "application/x-binary",
    "text/plain; charset=utf-8",
];

/// Which of the two maps of functions is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Export,
    Import,
}

pub(crate) fn read_all(
    functions: &Cursor<'_>,
    kind: Kind,
    report: &mut Report,
    document: &mut Document,
) {
    for (name, cursor) in functions.entries(report).unwrap_or_default() {
        if let Some(function) = read_one(name, &cursor, kind, report) {
            document.functions.push(function);
        }
    }
}

fn read_one(name: Name, cursor: &Cursor<'_>, kind: Kind, report: &mut Report) -> Option<Function> {
    let (what, allowed): (_, &[&str]) = match kind {
        Kind::Export => (
            "an export",
            &["description", "codeSamples", "input", "output"],
        ),
        Kind::Import => ("an import", &["description", "input", "output"]),
    };
    let fields = Fields::read(cursor, what, allowed, report)?;
    fields.text("description", report);
    code_samples(&fields, report);
    let parameters = ["input", "output"].map(|key| fields.get(key));
    let shapes = parameters.into_iter().flatten();
    let shapes = shapes.map(|cursor| parameter(cursor, report)).collect();
    Some(Function { name, shapes })
}

fn parameter(cursor: &Cursor<'_>, report: &mut Report) -> Shape {
    let Some(fields) = shape::fields(cursor, Place::Parameter, report) else {
        return Shape::Unread;
    };
    if let Some(content_type) = fields.required("contentType", report) {
        match content_type.text(report) {
            Some(text) if !CONTENT_TYPES.contains(&text) => {
                let message = format!("content type `{text}` is not one of XTP");
                let problem = report.error(Code::ContentType, &content_type.at(), message);
                problem.help(format!("use one of `{}`", CONTENT_TYPES.join("`, `")));
            }
            Some(_) | None => {}
        }
    }
    shape::read(&fields, report).shape
}

fn code_samples(fields: &Fields<'_>, report: &mut Report) {
    let samples = fields.get("codeSamples");
    let samples = samples.and_then(|samples| samples.list(report));
    for sample in samples.unwrap_or_default() {
        let allowed = ["lang", "source", "label"];
        let Some(fields) = Fields::read(&sample, "a code sample", &allowed, report) else {
            continue;
        };
        for key in ["lang", "source"] {
            if let Some(text) = fields.required(key, report) {
                text.text(report);
            }
        }
        fields.text("label", report);
    }
}
