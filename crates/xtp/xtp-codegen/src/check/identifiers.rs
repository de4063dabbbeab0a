//! Checks that names are identifiers in every language that XTP generates.

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Item, Name, Shape, Version};
use crate::rules::Rule;

pub(super) fn check_identifiers(document: &Document, report: &mut Report) {
    // The library does not look into a document of version `v0`, where everything is a name.
    let functions = match document.version {
        Version::V0 => Rule::Published,
        Version::V1 => Rule::Always,
    };
    for function in document.functions() {
        check_name(&function.name, functions, report);
    }
    for schema in &document.schemas {
        check_name(&schema.name, Rule::Always, report);
    }
    document.visit(&mut |item| {
        for name in names_in(item) {
            check_name(name, Rule::Always, report);
        }
    });
}

/// The names that an item itself gives.
pub(super) fn names_in(item: &Item) -> Vec<&Name> {
    match &item.shape {
        Shape::Object(object) => object.properties.iter().map(|p| &p.name).collect(),
        Shape::Enum(values) => values.iter().collect(),
        _ => Vec::new(),
    }
}

pub(super) fn check_name(name: &Name, rule: Rule, report: &mut Report) {
    if is_identifier(&name.text) {
        return;
    }
    let message = format!("`{}` is not an identifier", name.text.escape_debug());
    let problem = report.add(rule, Code::Identifier, &name.at, message);
    problem.help("use letters, digits, `_` and `$`, and do not start with a digit");
}

/// Whether a name matches `^[a-zA-Z_$][a-zA-Z0-9_$]*$`.
fn is_identifier(name: &str) -> bool {
    let sign = |c: char| c == '_' || c == '$';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || sign(c))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || sign(c))
}
