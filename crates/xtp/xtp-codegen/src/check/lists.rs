//! The two lists of names: `required` and `enum`.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Function, Name, Object, Shape};
use crate::rules::Rule;
use crate::span::At;
use crate::suggest;

/// How many unknown names get a suggestion: each is compared with all known ones.
const MAX_SUGGESTIONS: usize = 100;

pub(super) fn check_lists(document: &Document, report: &mut Report) {
    let parameters = document.functions().flat_map(Function::parameters);
    for parameter in parameters {
        let at = &parameter.at;
        parameter
            .value
            .visit(&mut |item| check_shape(&item.shape, at, report));
    }
    for schema in &document.schemas {
        let at = &schema.name.at;
        schema
            .value
            .visit(&mut |item| check_shape(&item.shape, at, report));
    }
}

fn check_shape(shape: &Shape, at: &At, report: &mut Report) {
    match shape {
        Shape::Object(object) => check_required(object, report),
        Shape::Enum(values) => check_values(values, at, report),
        _ => {}
    }
}

fn check_required(object: &Object, report: &mut Report) {
    let properties = object.properties.iter();
    let defined: BTreeSet<&str> = properties.map(|p| p.name.text.as_str()).collect();
    // The library does not look at the list if there are no properties.
    let rule = if defined.is_empty() {
        Rule::Lint
    } else {
        Rule::Library
    };
    let mut seen = BTreeSet::new();
    let mut compared = 0;
    for name in &object.required {
        let shown = name.text.escape_debug();
        if !defined.contains(name.text.as_str()) {
            let message = format!("`{shown}` is required but not defined");
            let problem = report.add(rule, Code::Required, &name.at, message);
            compared += 1;
            let others = defined
                .iter()
                .copied()
                .filter(|_| compared <= MAX_SUGGESTIONS);
            problem.help(match suggest::nearest(&name.text, others) {
                Some(suggestion) => format!("did you mean `{suggestion}`?"),
                None => format!("add `{shown}` to `properties`"),
            });
        } else if !seen.insert(&name.text) {
            let message = format!("`{shown}` is listed twice");
            let problem = report.add(Rule::Lint, Code::Required, &name.at, message);
            problem.help("remove one of the two");
        }
    }
}

fn check_values(values: &[Name], at: &At, report: &mut Report) {
    if values.is_empty() {
        let message = "the enum has no values";
        let problem = report.add(Rule::Lint, Code::EnumValues, at, message);
        problem.help("list some; without values every string is accepted");
    }
    let mut seen = BTreeSet::new();
    for value in values {
        if !seen.insert(&value.text) {
            let message = format!("value `{}` is listed twice", value.text.escape_debug());
            let problem = report.add(Rule::Lint, Code::EnumValues, &value.at, message);
            problem.help("remove one of the two");
        }
    }
}
