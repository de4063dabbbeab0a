//! Names are identifiers in every language that XTP generates.

use crate::diagnostic::{Code, Report};
use crate::document::{Body, Document, Name};

pub(super) fn check(document: &Document, report: &mut Report) {
    for function in &document.functions {
        check_name(&function.name, report);
    }
    for schema in &document.schemas {
        check_name(&schema.name, report);
        match &schema.body {
            Body::Object { properties, .. } => {
                let names = properties.iter().map(|property| &property.name);
                names.for_each(|name| check_name(name, report));
            }
            Body::Enum { values } => values.iter().for_each(|name| check_name(name, report)),
            Body::Unread => {}
        }
    }
}

fn check_name(name: &Name, report: &mut Report) {
    if is_identifier(&name.text) {
        return;
    }
    let message = format!("`{}` is not an identifier", name.text.escape_debug());
    let problem = report.error(Code::Identifier, &name.at, message);
    problem.help("use letters, digits, `_` and `$`, and do not start with a digit");
}

/// Whether a name matches `^[a-zA-Z_$][a-zA-Z0-9_$]*$`.
pub(super) fn is_identifier(name: &str) -> bool {
    let sign = |c: char| c == '_' || c == '$';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || sign(c))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || sign(c))
}
