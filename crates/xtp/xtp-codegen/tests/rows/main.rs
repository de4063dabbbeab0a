//! Facts about XTP, row by row: the verdicts of the published rules and the official library on a
//! schema, the output of the official generator for Rust, and our own.
//!
//! Every row has a case with the row's title. A table fails if one of its rows is missing or its
//! case does not run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod defects;
mod messages;
mod optionality;
mod suite;
mod verdicts;

#[path = "../support/published.rs"]
mod published;
#[path = "../support/yaml.rs"]
mod yaml;

use std::collections::BTreeSet;
use std::panic::catch_unwind;

/// The title of a row, and its case.
type Row = (&'static str, fn());

/// Runs every case of a table that must have these rows.
fn run(titles: &[&str], rows: &[Row]) {
    let wanted: BTreeSet<&str> = titles.iter().copied().collect();
    let found: BTreeSet<&str> = rows.iter().map(|(title, _)| *title).collect();
    assert_eq!(wanted.len(), titles.len(), "a row is listed twice");
    assert_eq!(wanted, found, "a row has no case, or a case has no row");
    assert_eq!(found.len(), rows.len(), "a row has two cases");
    let failed: Vec<&str> = rows
        .iter()
        .filter(|(_, case)| catch_unwind(case).is_err())
        .map(|(title, _)| *title)
        .collect();
    assert_eq!(failed, Vec::<&str>::new(), "the cases of these rows fail");
}

#[test]
fn repeats_every_message_of_the_official_library() {
    run(&messages::TITLES, &messages::ROWS);
}

#[test]
fn agrees_with_the_official_library_on_its_own_suite() {
    run(&suite::TITLES, &suite::ROWS);
}

#[test]
fn judges_as_each_gatekeeper_does() {
    run(&verdicts::TITLES, &verdicts::ROWS);
}

#[test]
fn reads_and_writes_optional_and_nullable_fields() {
    run(&optionality::TITLES, &optionality::ROWS);
}

#[test]
fn has_none_of_the_defects_of_the_official_generator() {
    run(&defects::TITLES, &defects::ROWS);
}

/// The messages of the official library for a document, as pairs of message and path.
fn library(text: &str) -> Vec<(String, String)> {
    let report = xtp_codegen::compat::report("schema.yaml", text).unwrap();
    let errors = report.errors.into_iter();
    errors.map(|found| (found.message, found.path)).collect()
}

/// A document with these schemas.
fn schemas(text: &str) -> String {
    format!("{{version: v1-draft, exports: {{}}, components: {{schemas: {{{text}}}}}}}")
}

/// A document with a schema `A` that has this property `a`, and an enum `B`.
fn property(text: &str) -> String {
    schemas(&format!(
        "A: {{properties: {{a: {text}}}}}, B: {{enum: [b]}}"
    ))
}

/// A document with an export `f` that has this input.
fn input(text: &str) -> String {
    format!("{{version: v1-draft, exports: {{f: {{input: {text}}}}}}}")
}
