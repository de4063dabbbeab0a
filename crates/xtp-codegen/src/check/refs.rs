//! Every `$ref` names a schema.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Shape};

pub(super) fn check(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter();
    let names: Vec<&str> = schemas.map(|schema| schema.name.text.as_str()).collect();
    let known: BTreeSet<&str> = names.iter().copied().collect();
    document.visit(&mut |item| {
        for target in targets(item) {
            if !known.contains(target.text.as_str()) {
                unknown(target, &names, report);
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

fn unknown(target: &Name, names: &[&str], report: &mut Report) {
    let message = format!("there is no schema `{}`", target.text.escape_debug());
    let problem = report.error(Code::RefTarget, &target.at, message);
    match closest(&target.text, names) {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None if names.is_empty() => problem.help("define it under `components.schemas`"),
        None => problem.help(format!("the schemas are `{}`", names.join("`, `"))),
    }
}

/// The name that was probably meant.
fn closest<'n>(text: &str, names: &[&'n str]) -> Option<&'n str> {
    let scored = names.iter().map(|name| {
        let likeness = strsim::jaro_winkler(&text.to_lowercase(), &name.to_lowercase());
        (likeness, *name)
    });
    let best = scored.max_by(|one, two| one.0.total_cmp(&two.0))?;
    (best.0 > 0.85).then_some(best.1)
}
