//! Checks that every `$ref` names a schema.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Shape};
use crate::suggest;

/// How many unknown names get a suggestion: each is compared with all known ones, which is slow in a large schema.
const MAX_SUGGESTIONS: usize = 100;

pub(super) fn check_refs(document: &Document, report: &mut Report) {
    let mut known = SchemaNames::new(document);
    document.visit(&mut |item| {
        for target in targets(item) {
            known.report_unknown(target, report);
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

/// The names of all schemas.
pub(super) struct SchemaNames<'d> {
    names: Vec<&'d str>,
    set: BTreeSet<&'d str>,
    /// How many unknown names have been compared with them.
    compared: usize,
}

impl<'d> SchemaNames<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        let schemas = document.schemas.iter();
        let names: Vec<&str> = schemas.map(|schema| schema.name.text.as_str()).collect();
        Self {
            set: names.iter().copied().collect(),
            names,
            compared: 0,
        }
    }

    /// Reports a reference to an unknown schema, and suggests a similar name.
    pub(super) fn report_unknown(&mut self, target: &Name, report: &mut Report) {
        if self.set.contains(target.text.as_str()) {
            return;
        }
        self.compared += 1;
        let message = format!("there is no schema `{}`", target.text.escape_debug());
        let problem = report.error(Code::RefTarget, &target.at, message);
        if self.names.is_empty() {
            problem.help("define it under `components.schemas`");
        } else if self.compared <= MAX_SUGGESTIONS {
            let known = |known: &str| format!("the schemas are {known}");
            problem.help(suggest::help(&target.text, &self.names, known));
        } else {
            let names = suggest::listed(&self.names);
            problem.help(format!("the schemas are {names}"));
        }
    }
}
