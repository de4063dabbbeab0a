//! What only the official library looks at. It takes every map of a document for a type, even below keys without a
//! meaning, and checks all keys of a type, even those that another key overrules.

use crate::check::{identifiers, refs};
use crate::diagnostic::Report;
use crate::document::{Document, Version};
use crate::node::Value;
use crate::read::{Cursor, Fields, every_key};
use crate::rules::Rule;

pub(super) fn check_everywhere(root: &Cursor<'_>, document: &Document, report: &mut Report) {
    // The library does not look into a document of version `v0`.
    if report.is_compat() && document.version == Version::V1 {
        let mut known = refs::SchemaNames::new(document);
        report.only_by_the_library(|report| check_node(root, &mut known, report));
    }
}

fn check_node(node: &Cursor<'_>, known: &mut refs::SchemaNames<'_>, report: &mut Report) {
    if !matches!(node.value(), Value::Map(_)) {
        return;
    }
    let Some(fields) = Fields::new(node, report) else {
        return;
    };
    if !has_names_as_keys(node) {
        let (names, target) = every_key(&fields, report);
        for name in &names {
            identifiers::check_name(name, Rule::Always, report);
        }
        if let Some(target) = &target {
            known.report_unknown(target, report);
        }
    }
    for value in fields.values() {
        check_node(value, known, report);
    }
}

/// Whether the author chose the keys of a map. The library does not know that those of inline objects are names, too.
fn has_names_as_keys(node: &Cursor<'_>) -> bool {
    let at = node.at();
    let path: Vec<&str> = at.pointer.as_str().split('/').collect();
    matches!(
        path.as_slice(),
        ["#", "exports" | "imports" | "components"]
            | ["#", "components", "schemas"]
            | ["#", "components", "schemas", _, "properties"]
    )
}
