//! Names that clients and hosts accept.

use std::collections::HashSet;

use mcp_servlet_host::{FeatureKind, MAX_NAME, name_problem, single_name_problem};

use super::{
    finding::{Finding, Level},
    findings::Findings,
    lists::{Item, Lists},
    target::Target,
};

/// Some clients accept at most 60 characters.
const MAX_SHORT_NAME: usize = 60;

/// Checks the names of tools and prompts, and that no two items have the same name.
pub(super) fn check_names(findings: &mut Findings, servlet: &str, lists: &Lists) {
    let mut seen = HashSet::new();
    for item in &lists.items {
        if !seen.insert((item.kind, item.key.as_str())) {
            let problem = format!("another {} has the same name", item.kind.name());
            let finding = Finding::new("duplicate", problem).at(item.location(""));
            findings.add(finding.help("give each a different name").error());
            continue;
        }
        if matches!(item.kind, FeatureKind::Tool | FeatureKind::Prompt)
            && item.text("name").is_some()
        {
            check_name(findings, servlet, item);
            check_single_name(findings, servlet, item, lists.is_single);
        }
    }
}

fn check_name(findings: &mut Findings, servlet: &str, item: &Item) {
    if let Some(problem) = name_problem(&item.key) {
        let finding = Finding::new("name", format!("clients refuse the name: {problem}"))
            .at(item.location("/name"))
            .help(RENAME)
            .error();
        findings.add(match item.kind {
            FeatureKind::Tool => finding,
            // Models do not see the names of prompts.
            _ => finding.at_most(Level::Warning),
        });
        return;
    }
    check_length(findings, servlet, item);
}

/// A servlet that describes a single tool, without a list, should have its name.
fn check_single_name(findings: &mut Findings, servlet: &str, item: &Item, is_single: bool) {
    if !is_single || item.kind != FeatureKind::Tool {
        return;
    }
    if let Some(problem) = single_name_problem(servlet, &item.key) {
        let finding = Finding::new("name", problem).at(item.location("/name"));
        let help = format!(
            "name the servlet `{}`, or describe a list of tools",
            item.key
        );
        let hosts = [Target::McpRun, Target::McpServlet];
        findings.add(finding.help(help).matters(Level::Warning, &hosts));
    }
}

const RENAME: &str = "choose another one: `name = \"…\"` in the attribute";

/// hyper-mcp adds the name of the plugin and `-` as a prefix.
fn check_length(findings: &mut Findings, servlet: &str, item: &Item) {
    let prefixed = format!("{}-{}", plugin_name(servlet), item.key);
    let (length, with_prefix) = (item.key.len(), prefixed.len());
    let problem = |length: usize, limit: usize, clients: &str| {
        let as_what = if length == with_prefix {
            format!(", as `{prefixed}`")
        } else {
            String::new()
        };
        let problem = format!(
            "the name has {length} characters{as_what}; {clients} clients accept at most {limit}"
        );
        Finding::new("name-length", problem)
            .at(item.location("/name"))
            .help("shorten it")
    };
    if with_prefix > MAX_NAME {
        let finding = problem(with_prefix, MAX_NAME, "most");
        findings.add(finding.matters(Level::Warning, &[Target::HyperMcp]));
    } else if with_prefix > MAX_SHORT_NAME {
        let finding = problem(with_prefix, MAX_SHORT_NAME, "some");
        findings.add(finding.matters(Level::Note, &[Target::HyperMcp]));
    }
    if length > MAX_SHORT_NAME {
        let others = [Target::McpRun, Target::McpServlet];
        findings.add(problem(length, MAX_SHORT_NAME, "some").matters(Level::Note, &others));
    }
}

/// The likely name of the plugin in a configuration. Such a name has letters, digits and single `_`.
fn plugin_name(servlet: &str) -> String {
    let words: Vec<_> = servlet
        .split(|one: char| !one.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.join("_")
}
