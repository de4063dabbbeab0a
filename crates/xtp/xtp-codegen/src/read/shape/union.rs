//! Unions by `oneOf`, as in `OpenAPI`: a proposal that neither set of rules has.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Report};
use crate::document::{Member, Name, Shape, Union};
use crate::read::{Cursor, Fields, Keys, shape};

/// Reads a union.
pub(super) fn read(fields: &Fields<'_>, members: &Cursor<'_>, report: &mut Report) -> Shape {
    let (tag, mapping) = discriminator(fields, report);
    let mut values: BTreeMap<&str, &Name> = BTreeMap::new();
    for (value, target) in &mapping {
        values.entry(&target.text).or_insert(value);
    }
    let cursors = members.list(report).unwrap_or_default();
    let members: Vec<_> = cursors
        .iter()
        .filter_map(|cursor| {
            let target = member(cursor, report)?;
            let mapped = values.get(target.text.as_str()).copied().cloned();
            Some(Member { mapped, target })
        })
        .collect();
    let names: BTreeSet<&str> = members.iter().map(|m| m.target.text.as_str()).collect();
    for (value, target) in &mapping {
        let first = names
            .get(target.text.as_str())
            .and(values.get(target.text.as_str()));
        expect_member(value, target, first.copied(), report);
    }
    Shape::Union(Box::new(Union {
        members,
        at: fields.whole.at_key(),
        tag,
    }))
}

/// Reports an entry of `mapping` for a schema that is not a member, or has an earlier entry.
fn expect_member(value: &Name, target: &Name, first: Option<&Name>, report: &mut Report) {
    let name = target.text.escape_debug();
    match first {
        None => {
            let message = format!("`{name}` is not a member of the union");
            let problem = report.error(Code::Union, &target.at, message);
            problem.help("list it under `oneOf`, or remove it from `mapping`");
        }
        Some(first) if first.text != value.text => {
            let message = format!("`{name}` is tagged `{}` already", first.text.escape_debug());
            let problem = report.error(Code::Union, &target.at, message);
            problem.help("a member has one tag; a schema of its own can have another one");
        }
        Some(_) => {}
    }
}

fn member(cursor: &Cursor<'_>, report: &mut Report) -> Option<Name> {
    let keys = Keys {
        what: "a member of `oneOf`",
        published: &["$ref", "description"],
        beyond: &[],
    };
    let fields = Fields::new(cursor, report)?;
    let Some(target) = fields.get("$ref") else {
        let message = "a member of `oneOf` is a `$ref` to a schema";
        let problem = report.error(Code::Unsupported, &cursor.at(), message);
        problem.help("give the type a name under `components.schemas`");
        return None;
    };
    fields.expect(&keys, report);
    let text = target.text(report)?;
    shape::target(target, text, report)
}

/// The property that selects the member, and its value for each member whose value is not the name of the schema.
fn discriminator(fields: &Fields<'_>, report: &mut Report) -> (Option<String>, Vec<(Name, Name)>) {
    let keys = Keys {
        what: "`discriminator`",
        published: &["propertyName", "mapping"],
        beyond: &[],
    };
    let cursor = fields.get("discriminator");
    let Some(fields) = cursor.and_then(|cursor| Fields::read(cursor, &keys, report)) else {
        return (None, Vec::new());
    };
    let tag = fields
        .required("propertyName", report)
        .and_then(|tag| tag.text(report));
    let entries = fields.get("mapping").and_then(|map| map.entries(report));
    let mapping = entries
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(value, cursor)| {
            let target = mapped(&cursor, cursor.text(report)?, report)?;
            Some((value, target))
        })
        .collect();
    (tag.map(str::to_owned), mapping)
}

/// The schema of an entry of `mapping`: a reference, or a bare name, as `OpenAPI` allows.
fn mapped(cursor: &Cursor<'_>, text: &str, report: &mut Report) -> Option<Name> {
    if text.contains(['#', '/']) {
        return shape::target(cursor, text, report);
    }
    cursor.name(report)
}
