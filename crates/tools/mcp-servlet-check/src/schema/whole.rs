//! Rules about a schema as a whole.

use mcp_servlet_schema::refers_to_itself;

use super::Subject;
use crate::{finding::Level, findings::Findings, target::Target};

/// The dialects that clients know.
const DIALECTS: [&str; 3] = [
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];

pub(super) fn check(findings: &mut Findings, subject: &Subject<'_>) {
    check_root(findings, subject);
    check_dialect(findings, subject);
    check_references(findings, subject);
}

/// All clients require an object schema for arguments. Clients before 2026-07-28 also require one
/// for results, and the host of this project wraps other results for them.
fn check_root(findings: &mut Findings, subject: &Subject<'_>) {
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

fn check_dialect(findings: &mut Findings, subject: &Subject<'_>) {
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
fn check_references(findings: &mut Findings, subject: &Subject<'_>) {
    if refers_to_itself(subject.schema) {
        let problem = "the schema refers to itself, but some clients inline references";
        let finding = subject.finding("schema-recursive", "", problem);
        subject.add(
            findings,
            finding.help("limit the depth, or use a string").warning(),
        );
    }
}
