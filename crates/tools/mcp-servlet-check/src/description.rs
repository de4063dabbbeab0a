//! Descriptions of tools and other items.

use mcp_servlet_host::FeatureKind;
use serde_json::Value;

use super::{
    finding::{Finding, Level},
    findings::Findings,
    lists::{Item, Lists},
    target::Target,
};

/// The advice for a missing or useless description.
const HELP: &str = "describe its purpose in a doc comment";

/// Hosts that publish items without a description, although their models would need it.
const OTHERS: [Target; 2] = [Target::HyperMcp, Target::McpServlet];

/// Checks the descriptions of items and of the arguments of prompts.
pub(super) fn check_descriptions(findings: &mut Findings, lists: &Lists) {
    for item in &lists.items {
        let name = item.text("name").unwrap_or_default();
        let finding = description_problem(item.json.get("description"), name);
        let Some(finding) = finding else { continue };
        let finding = finding.at(item.location("/description"));
        findings.add(match item.kind {
            FeatureKind::Tool => finding,
            // mcp.run only shows tools.
            _ => finding.at_most(Level::Note),
        });
    }
    for prompt in lists.items_of(FeatureKind::Prompt) {
        check_arguments(findings, prompt);
    }
}

fn check_arguments(findings: &mut Findings, prompt: &Item) {
    let arguments = prompt.json.get("arguments").and_then(Value::as_array);
    for (at, argument) in arguments.into_iter().flatten().enumerate() {
        let name = argument["name"].as_str().unwrap_or_default();
        if let Some(finding) = description_problem(argument.get("description"), name) {
            let location = prompt.location(format!("/arguments/{at}/description"));
            findings.add(finding.at(location).at_most(Level::Note));
        }
    }
}

/// The problem with a description of an item with this name.
///
/// mcp.run does not publish a tool without a description.
pub(super) fn description_problem(description: Option<&Value>, name: &str) -> Option<Finding> {
    let Some(text) = description.and_then(Value::as_str) else {
        return Some(refused("the description is missing").help(HELP));
    };
    if text.trim().is_empty() {
        return Some(refused("the description is empty").help(HELP));
    }
    if text.trim() != text {
        let problem = "the description begins or ends with white space";
        return Some(refused(problem).help("remove it"));
    }
    repeats_name(text, name)
}

/// The problem with the description of a property with this name.
///
/// mcp.run accepts white space around it.
pub(super) fn property_problem(description: Option<&Value>, name: &str) -> Option<Finding> {
    match description.and_then(Value::as_str) {
        Some(text) if !text.trim().is_empty() => repeats_name(text, name),
        Some(text) if !text.is_empty() => {
            description_problem(description, name).map(|finding| finding.at_most(Level::Warning))
        }
        _ => description_problem(description, name),
    }
}

fn repeats_name(text: &str, name: &str) -> Option<Finding> {
    if !name.is_empty() && letters(text) == letters(name) {
        let problem = "the description only repeats the name";
        let finding = Finding::new("description-repeats-name", problem);
        return Some(finding.help(HELP).warning());
    }
    None
}

fn refused(problem: &str) -> Finding {
    Finding::new("description", problem)
        .matters(Level::Error, &[Target::McpRun])
        .matters(Level::Warning, &OTHERS)
}

/// To a model, `maxResults` and `Max results.` are the same.
fn letters(text: &str) -> String {
    let letters = text.chars().filter(|one| one.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
