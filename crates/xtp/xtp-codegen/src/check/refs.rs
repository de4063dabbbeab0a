//! Checks that every `$ref` names a schema.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Shape};
use crate::suggest;

/// How many unknown names are compared with all known ones, which is slow in a large schema.
const MAX_COMPARED: usize = 100;

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    let names: Vec<&str> = schemas.map(|schema| schema.name.text.as_str()).collect();
    let known: BTreeSet<&str> = names.iter().copied().collect();
    let mut compared = 0;
    document.visit(&mut |item| {
        for target in targets(item) {
            if !known.contains(target.text.as_str()) {
                compared += 1;
                unknown(target, &names, compared <= MAX_COMPARED, report);
            }
        }
    });
}

/// The schemas that an item itself refers to.
fn targets(item: &Item) -> Vec<&Name> {
    match &item.shape {
        Shape::Ref(target) => vec![target],
        Shape::Union(union) => union.members.iter().map(|m| &m.target).collect(),
        _ => Vec::new(),
    }
}

/// Reports a reference to an unknown schema. With `compare`, the help suggests a similar name.
fn unknown(target: &Name, names: &[&str], compare: bool, report: &mut Report) {
    let message = format!("there is no schema `{}`", target.text.escape_debug());
    let problem = report.error(Code::RefTarget, &target.at, message);
    if names.is_empty() {
        problem.help("define it under `components.schemas`");
    } else if compare {
        let known = |known: &str| format!("the schemas are {known}");
        problem.help(suggest::help(&target.text, names, known));
    } else {
        problem.help(format!("the schemas are {}", suggest::listed(names)));
    }
}
