//! The two lists of names: `required` and `enum`.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{Body, Document, Name, Property, Schema};

pub(super) fn check(document: &Document, report: &mut Report) {
    for schema in &document.schemas {
        match &schema.body {
            Body::Object {
                properties,
                required,
            } => check_required(properties, required, report),
            Body::Enum { values } => check_values(schema, values, report),
            Body::Unread => {}
        }
    }
}

fn check_required(properties: &[Property], required: &[Name], report: &mut Report) {
    let defined: BTreeSet<&str> = properties.iter().map(|p| p.name.text.as_str()).collect();
    let mut seen = BTreeSet::new();
    for name in required {
        if !defined.contains(name.text.as_str()) {
            let message = format!("`{}` is required but not defined", name.text);
            let problem = report.error(Code::Required, &name.at, message);
            problem.help(format!("add `{}` to `properties`", name.text));
        } else if !seen.insert(&name.text) {
            let message = format!("`{}` is listed twice", name.text);
            report.error(Code::Required, &name.at, message);
        }
    }
}

fn check_values(schema: &Schema, values: &[Name], report: &mut Report) {
    if values.is_empty() {
        let message = format!("enum `{}` has no values", schema.name.text);
        report.error(Code::EnumValues, &schema.name.at, message);
    }
    let mut seen = BTreeSet::new();
    for value in values {
        if !seen.insert(&value.text) {
            let message = format!("value `{}` is listed twice", value.text);
            report.error(Code::EnumValues, &value.at, message);
        }
    }
}
