//! Names that differ in the schema and would be equal in Rust. One of them gets a number, and the author a warning.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Report};
use crate::document::{Document, Name, Shape};
use crate::names;
use crate::rules::Rule;

/// A function that turns a name of the schema into one of Rust.
type Spell = fn(&str) -> String;

pub(super) fn check_collisions(document: &Document, report: &mut Report) {
    let schemas = document.schemas.iter().map(|schema| &schema.name);
    check_names(schemas.collect(), names::pascal, report);
    for functions in [&document.exports, &document.imports] {
        let names = functions.iter().map(|function| &function.name);
        check_names(names.collect(), names::snake, report);
    }
    document.visit(&mut |item| match &item.shape {
        Shape::Object(object) => {
            let names = object.properties.iter().map(|property| &property.name);
            check_names(names.collect(), names::snake, report);
        }
        Shape::Enum(values) => check_names(values.iter().collect(), names::pascal, report),
        _ => {}
    });
}

fn check_names(names: Vec<&Name>, spell: Spell, report: &mut Report) {
    let wire: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
    let given = names::unique(&wire, spell);
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for text in &wire {
        *times.entry(*text).or_default() += 1;
    }
    for (name, given) in names.iter().zip(&given) {
        let plain = spell(&name.text);
        // Another check reports a name that is listed twice.
        let repeated = times
            .get(name.text.as_str())
            .is_some_and(|times| *times > 1);
        if plain == *given || repeated {
            continue;
        }
        let text = &name.text;
        let message =
            format!("`{text}` is `{given}` in Rust, because another name is already `{plain}`");
        let problem = report.add(Rule::Lint, Code::Collision, &name.at, message);
        problem.help("rename one of the two");
    }
}
