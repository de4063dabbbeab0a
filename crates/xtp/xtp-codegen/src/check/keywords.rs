//! Names that other generators cannot use. Ours handles them, so only the mode that judges for other generators
//! reports them.

use crate::check::identifiers::names_in;
use crate::diagnostic::{Code, Report};
use crate::document::{Document, Name};
use crate::keywords;
use crate::rules::Rule;

pub(super) fn check_keywords(document: &Document, report: &mut Report) {
    if !report.is_compat() {
        return;
    }
    for function in document.functions() {
        check_name(&function.name, report);
    }
    for schema in &document.schemas {
        check_name(&schema.name, report);
    }
    document.visit(&mut |item| {
        for name in names_in(item) {
            check_name(name, report);
        }
    });
}

fn check_name(name: &Name, report: &mut Report) {
    let languages = keywords::languages(&name.text);
    if languages.is_empty() {
        return;
    }
    let languages = languages.join(", ");
    let message = format!("`{}` is a keyword in {languages}", name.text);
    let problem = report.add(Rule::Lint, Code::Keyword, &name.at, message);
    problem.help("generators for these languages may fail at it");
}
