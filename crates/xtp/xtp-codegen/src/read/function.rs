//! Exports and imports.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{CodeSample, ContentType, Document, Function, Name, Parameter};
use crate::node::Value;
use crate::read::shape::{self, Place};
use crate::read::{Cursor, Fields, Keys};
use crate::rules::Rule;
use crate::suggest;

/// The content types of the published rules; for all others the generators use raw bytes.
const CONTENT_TYPES: [(&str, ContentType); 3] = [
    ("application/json", ContentType::Json),
    ("application/x-binary", ContentType::Binary),
    ("text/plain; charset=utf-8", ContentType::Text),
];

/// Which of the two maps of functions it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Export,
    Import,
}

/// Reads the functions of version `v0`, which are only names.
pub(crate) fn read_names(fields: &Fields<'_>, report: &mut Report, document: &mut Document) {
    let keys = Keys {
        what: "an XTP document of version `v0`",
        published: &["version", "exports"],
        beyond: &[],
    };
    fields.expect(&keys, report);
    let Some(exports) = fields.required("exports", report) else {
        return;
    };
    if let Value::Map(_) = exports.value() {
        let problem = exports.wrong_kind("a list of names", Rule::Always, report);
        problem.help("in version `v0` exports are a list; `v1-draft` has them as a map");
        return;
    }
    let mut seen = BTreeSet::new();
    for cursor in exports.list(report).unwrap_or_default() {
        let Some(name) = cursor.name(report) else {
            continue;
        };
        if seen.insert(name.text.clone()) {
            document.exports.push(bare(name));
        } else {
            let message = format!("`{}` is listed twice", name.text.escape_debug());
            let problem = report.add(Rule::Lint, Code::Collision, &name.at, message);
            problem.help("remove one of the two");
        }
    }
}

fn bare(name: Name) -> Function {
    Function {
        name,
        description: None,
        code_samples: Vec::new(),
        input: None,
        output: None,
    }
}

/// Reads a map of functions of version `v1-draft`.
pub(crate) fn read_all(functions: &Cursor<'_>, kind: Kind, report: &mut Report) -> Vec<Function> {
    if let Value::List(_) = functions.value() {
        let problem = functions.wrong_kind("a map of functions", Rule::Always, report);
        problem.help("in version `v1-draft` each function is a key: `call: {}`");
        return Vec::new();
    }
    let entries = functions.entries(report).unwrap_or_default();
    entries
        .into_iter()
        .map(|(name, cursor)| read_one(name, &cursor, kind, report))
        .collect()
}

fn read_one(name: Name, cursor: &Cursor<'_>, kind: Kind, report: &mut Report) -> Function {
    let mut function = bare(name);
    if cursor.is_null() {
        let problem = cursor.wrong_kind("a map", Rule::Always, report);
        problem.help("a function without input and output is `{}`");
        return function;
    }
    let samples: &[&str] = &["codeSamples"];
    let keys = match kind {
        Kind::Export => Keys {
            what: "an export",
            published: &["description", "codeSamples", "input", "output"],
            beyond: &[],
        },
        Kind::Import => Keys {
            what: "an import",
            published: &["description", "input", "output"],
            beyond: samples,
        },
    };
    let Some(fields) = Fields::read(cursor, &keys, report) else {
        return function;
    };
    function.description = fields.text("description", report);
    function.code_samples = code_samples(&fields, report);
    function.input = parameter(&fields, "input", report);
    function.output = parameter(&fields, "output", report);
    function
}

fn parameter(function: &Fields<'_>, key: &str, report: &mut Report) -> Option<Parameter> {
    let cursor = function.filled(key, "a map", report)?;
    let fields = shape::fields(cursor, Place::Parameter, report)?;
    Some(Parameter {
        at: cursor.at_key(),
        content_type: content_type(&fields, report),
        description: fields.text("description", report),
        value: shape::read(&fields, report),
    })
}

fn content_type(fields: &Fields<'_>, report: &mut Report) -> ContentType {
    let Some(cursor) = fields.get("contentType") else {
        let code = Code::MissingKey;
        let message = "the key `contentType` is missing";
        let problem = report.add(Rule::Published, code, &fields.whole.at_key(), message);
        problem.help("without it the payload is raw bytes");
        return ContentType::Binary;
    };
    let Some(text) = cursor.expect_text(Rule::Published, report) else {
        return ContentType::Binary;
    };
    if let Some((_, known)) = CONTENT_TYPES.iter().find(|(known, _)| *known == text) {
        return *known;
    }
    let message = format!("content type `{}` is not one of XTP", text.escape_debug());
    let known = CONTENT_TYPES.map(|(known, _)| known);
    let help = suggest::help(text.as_str(), &known, |known| format!("use one of {known}"));
    let code = Code::ContentType;
    let problem = report.add(Rule::Published, code, &cursor.at(), message);
    problem.help(format!("it is taken as raw bytes; {help}"));
    ContentType::Binary
}

/// Reads code samples, which the library ignores.
fn code_samples(fields: &Fields<'_>, report: &mut Report) -> Vec<CodeSample> {
    let Some(samples) = fields.get("codeSamples") else {
        return Vec::new();
    };
    if !matches!(samples.value(), Value::List(_)) {
        samples.wrong_kind("a list", Rule::Published, report);
        return Vec::new();
    }
    let samples = samples.list(report).unwrap_or_default();
    samples
        .iter()
        .filter_map(|sample| code_sample(sample, report))
        .collect()
}

fn code_sample(cursor: &Cursor<'_>, report: &mut Report) -> Option<CodeSample> {
    if !matches!(cursor.value(), Value::Map(_)) {
        cursor.wrong_kind("a map", Rule::Published, report);
        return None;
    }
    let keys = Keys {
        what: "a code sample",
        published: &["lang", "source", "label"],
        beyond: &[],
    };
    let fields = Fields::read(cursor, &keys, report)?;
    let mut text = |key| {
        let found = fields.wanted(key, Rule::Published, report)?;
        found.expect_text(Rule::Published, report)
    };
    let (lang, source) = (text("lang"), text("source"));
    Some(CodeSample {
        label: fields.text("label", report),
        lang: lang?,
        source: source?,
    })
}
