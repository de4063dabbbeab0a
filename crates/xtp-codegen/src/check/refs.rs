//! Every `$ref` names a schema.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{Body, Document, Name, Shape};

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    let names: Vec<&str> = schemas.map(|schema| schema.name.text.as_str()).collect();
    let known: BTreeSet<&str> = names.iter().copied().collect();
    let parameters = document.functions.iter().flat_map(|f| &f.shapes);
    for shape in parameters.chain(property_shapes(document)) {
        if let Some(target) = shape.target()
            && !known.contains(target.text.as_str())
        {
            unknown(target, &names, report);
        }
    }
}

fn property_shapes(document: &Document) -> impl Iterator<Item = &Shape> {
    document.schemas.iter().flat_map(|schema| {
        let properties = match &schema.body {
            Body::Object { properties, .. } => properties.as_slice(),
            Body::Enum { .. } | Body::Unread => &[],
        };
        properties.iter().map(|property| &property.value.shape)
    })
}

fn unknown(target: &Name, names: &[&str], report: &mut Report) {
    let message = format!("there is no schema `{}`", target.text);
    let problem = report.error(Code::RefTarget, &target.at, message);
    let close = names
        .iter()
        .find(|name| name.eq_ignore_ascii_case(&target.text));
    match close {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None if names.is_empty() => problem.help("define it under `components.schemas`"),
        None => problem.help(format!("the schemas are `{}`", names.join("`, `"))),
    }
}
