//! Rules for each schema within a schema.

use super::{
    SchemaSubject,
    walk::{Part, Role},
};
use crate::{description, finding::Level, findings::Findings, target::Target};

/// Keywords that describe a value instead of `type`.
const COMBINATORS: [&str; 5] = ["$ref", "allOf", "anyOf", "const", "oneOf"];

pub(super) fn check_part(findings: &mut Findings, subject: &SchemaSubject<'_>, part: &Part<'_>) {
    match part.role {
        Role::Argument(name) | Role::Property(name) => {
            check_property(findings, subject, part, name);
        }
        Role::Root => {}
        Role::Other => check_enum(findings, subject, part),
        Role::Condition => return,
    }
    check_required(findings, subject, part);
}

fn check_property(
    findings: &mut Findings,
    subject: &SchemaSubject<'_>,
    part: &Part<'_>,
    name: &str,
) {
    if part.schema.is_boolean() {
        check_boolean(findings, subject, part);
        return;
    }
    check_type(findings, subject, part);
    if has_one_value(part) || is_wrapped(subject, part) {
        // A property with a single possible value needs no description.
        return;
    }
    if let Some(finding) = description::property_problem(part.schema.get("description"), name) {
        let finding = subject.at(&part.pointer, finding);
        subject.add(
            findings,
            match part.role {
                Role::Argument(_) if subject.is_input() => finding,
                _ => finding.at_most(Level::Warning),
            },
        );
    }
}

/// The host of this project writes `{}` for clients before 2026-07-28.
fn check_boolean(findings: &mut Findings, subject: &SchemaSubject<'_>, part: &Part<'_>) {
    let problem = "clients before 2026-07-28 refuse `true` and `false` for a property";
    let finding = subject
        .finding("schema-boolean", &part.pointer, problem)
        .help("write its type, or `{}`")
        .matters(Level::Warning, &[Target::HyperMcp]);
    subject.add(findings, subject.refused_by_mcp_run(part.role, finding));
}

fn check_type(findings: &mut Findings, subject: &SchemaSubject<'_>, part: &Part<'_>) {
    let ty = &part.schema["type"];
    if ty.is_string() {
        return;
    }
    if is_untyped_enum(part) {
        check_enum(findings, subject, part);
        return;
    }
    let says_it_otherwise = ty.is_array() || has_any(part, &COMBINATORS);
    let finding = subject
        .finding("schema-type", &part.pointer, "expected a single `type`")
        .help("add its `type`");
    let finding = subject.refused_by_mcp_run(part.role, finding);
    subject.add(
        findings,
        if says_it_otherwise {
            finding
        } else {
            finding.warning()
        },
    );
}

/// Whether the property was only added to wrap a result in an object, for older clients.
fn is_wrapped(subject: &SchemaSubject<'_>, part: &Part<'_>) -> bool {
    let is_marked = subject.schema.get("x-fastmcp-wrap-result").is_some();
    is_marked && !subject.is_input() && part.pointer == "/properties/result"
}

fn has_one_value(part: &Part<'_>) -> bool {
    let values = part.schema["enum"].as_array();
    part.schema.get("const").is_some() || values.is_some_and(|values| values.len() == 1)
}

fn is_untyped_enum(part: &Part<'_>) -> bool {
    part.schema.get("enum").is_some() && part.schema.get("type").is_none()
}

fn check_enum(findings: &mut Findings, subject: &SchemaSubject<'_>, part: &Part<'_>) {
    if !is_untyped_enum(part) {
        return;
    }
    let finding = subject
        .finding("schema-enum", &part.pointer, "the `enum` has no `type`")
        .help("add `\"type\": \"string\"`, or the type of its values")
        .warning();
    subject.add(findings, subject.refused_by_mcp_run(part.role, finding));
}

fn check_required(findings: &mut Findings, subject: &SchemaSubject<'_>, part: &Part<'_>) {
    if part.role != Role::Root && part.schema.get("properties").is_none() {
        // The list adds to the properties of another schema.
        return;
    }
    let required = part.schema["required"].as_array();
    let names: Vec<_> = required.into_iter().flatten().collect();
    for (at, name) in names.iter().enumerate() {
        let is_property = name
            .as_str()
            .is_some_and(|name| part.schema["properties"].get(name).is_some());
        let problem = match is_property {
            true if names[..at].contains(name) => format!("`required` lists {name} twice"),
            true => continue,
            false => format!("`required` lists {name}, which is not in `properties`"),
        };
        let pointer = format!("{}/required/{at}", part.pointer);
        let finding = subject
            .finding("schema-required", &pointer, problem)
            .help("list each property once")
            .warning();
        subject.add(
            findings,
            match part.role {
                Role::Root => subject.refused_by_mcp_run(part.role, finding),
                _ => finding,
            },
        );
    }
}

fn has_any(part: &Part<'_>, keywords: &[&str]) -> bool {
    keywords.iter().any(|key| part.schema.get(key).is_some())
}
