//! Rules about a schema as a whole.

use mcp_servlet_schema::{referenced, refers_to_itself, unchecked};

use super::{SchemaSubject, walk::parts};
use crate::{finding::Level, findings::Findings, target::Target};

/// The dialects that clients know.
const DIALECTS: [&str; 3] = [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];

pub(super) fn check_whole(findings: &mut Findings, subject: &SchemaSubject<'_>) {
    check_root(findings, subject);
    check_dialect(findings, subject);
    check_recursion(findings, subject);
    check_targets(findings, subject);
}

/// All clients require an object schema for arguments. Clients before 2026-07-28 also require one
/// for results, and the host of this project wraps other results for them.
fn check_root(findings: &mut Findings, subject: &SchemaSubject<'_>) {
    if subject.schema["type"] == "object" {
        return;
    }
    let problem = "the root does not have `\"type\": \"object\"`";
    let finding = subject.finding("schema-root", "", problem);
    subject.add(
        findings,
        if subject.is_input() {
            finding
                .help("clients refuse the tool; put everything into an object")
                .error()
        } else {
            let help = "clients before 2026-07-28 refuse the tool; put the result into an object";
            finding
                .help(help)
                .matters(Level::Warning, &[Target::HyperMcp])
        },
    );
}

fn check_dialect(findings: &mut Findings, subject: &SchemaSubject<'_>) {
    let Some(dialect) = subject.schema.get("$schema") else {
        return;
    };
    let known = dialect.as_str().is_some_and(|one| DIALECTS.contains(&one));
    let finding = subject.finding(
        "schema-dialect",
        "/$schema",
        "some clients refuse `$schema`",
    );
    subject.add(
        findings,
        if known {
            finding.help("remove it if it is 2020-12").note()
        } else {
            let help = "clients support 2020-12, which needs no `$schema`, and draft 7";
            finding.help(help).warning()
        },
    );
}

/// A rule of providers covers references that do not recurse.
fn check_recursion(findings: &mut Findings, subject: &SchemaSubject<'_>) {
    if refers_to_itself(subject.schema) {
        let problem = "the schema refers to itself, but some clients inline references";
        let finding = subject.finding("schema-recursive", "", problem);
        subject.add(
            findings,
            finding.help("limit the depth, or use a string").warning(),
        );
    }
}

/// Clients that compile the schema fail at a reference without a target, and the host of this project does not apply it.
fn check_targets(findings: &mut Findings, subject: &SchemaSubject<'_>) {
    let mut all_have_targets = true;
    for part in parts(subject.schema) {
        let Some(reference) = part.schema["$ref"].as_str() else {
            continue;
        };
        let is_pointer = reference == "#" || reference.starts_with("#/");
        if !is_pointer || referenced(subject.schema, reference).is_some() {
            continue;
        }
        all_have_targets = false;
        let pointer = format!("{}/$ref", part.pointer);
        let problem = format!("the schema has no `{reference}`, so nothing is checked against it");
        let finding = subject.finding("schema-target", &pointer, problem);
        let help = "add the definition, or correct the JSON pointer";
        subject.add(findings, finding.help(help).warning());
    }
    if all_have_targets {
        check_limits(findings, subject);
    }
}

/// The host of this project passes values on unchecked if it cannot apply the schema within its limits.
fn check_limits(findings: &mut Findings, subject: &SchemaSubject<'_>) {
    if let Some(why) = unchecked(subject.schema) {
        let problem = format!("nothing is checked against the schema: {why}");
        let finding = subject.finding("schema-unchecked", "", problem);
        let help = "simplify the schema, and check the values in the tool";
        let finding = finding.help(help);
        subject.add(
            findings,
            finding.matters(Level::Note, &[Target::McpServlet]),
        );
    }
}
