//! What the library refuses and [`Mode::Compat`] accepts. There must be nothing.

use saphyr::Yaml;
use xtp_codegen::{Code, Input, Mode, Schema, Severity};

use super::script::entries;
use super::{Report, yaml};

/// The places that the library refuses and at which the compatible mode has no error.
pub(crate) fn missed(text: &str, report: &Report) -> Vec<String> {
    let root = yaml::load(text);
    let errors = errors(text);
    let mut places: Vec<_> = report.places().map(|place| pointer(&root, place)).collect();
    let is_cycle = |message: &str| message.starts_with("Detected circular reference");
    if report.errors.iter().any(|found| is_cycle(&found.message)) {
        // The library finds nothing else then, and its path leads from schema to schema.
        let is_cycle = |(code, _): &&(Code, String)| matches!(code, Code::Cycle | Code::Endless);
        let found = errors.iter().filter(is_cycle).count();
        return places.split_off(found.min(places.len()));
    }
    places.retain(|place| {
        let below = format!("{place}/");
        let is_there = |found: &str| found == place || found.starts_with(&below);
        !errors.iter().any(|(_, found)| is_there(found))
    });
    places
}

/// The errors of the compatible mode: their codes and JSON pointers.
fn errors(text: &str) -> Vec<(Code, String)> {
    match Schema::parse(&Input::new("schema.yaml", text).mode(Mode::Compat)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|problem| (problem.code, problem.pointer.clone()))
            .collect(),
    }
}

/// The JSON pointer of a place, or of the last node on the way that exists.
fn pointer(root: &Yaml<'_>, place: &[String]) -> String {
    let mut pointer = "#".to_owned();
    let mut node = root;
    for key in place {
        let mut entries = entries(node).into_iter();
        let Some((_, value)) = entries.find(|(found, _)| found == key) else {
            break;
        };
        pointer.push('/');
        pointer += &key.replace('~', "~0").replace('/', "~1");
        node = value;
    }
    pointer
}
