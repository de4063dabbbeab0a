//! The generator from the outside: what it generates, what it reports, and how it judges compared with the other tools.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod clients;
mod compiled;
mod defects;
mod glue;
mod goldens;
mod interface;
mod large;
mod library;
mod merge_keys;
mod messages;
mod optionality;
mod pictures;
mod problems;
mod published;
mod robustness;
mod suite;
mod survive;
mod unions;
mod verdicts;
mod yaml;

/// The messages of the official library for a document, as pairs of message and path.
fn library(text: &str) -> Vec<(String, String)> {
    let report = library::report(text);
    assert_eq!(
        library::missed(text, &report),
        Vec::<String>::new(),
        "{text}"
    );
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
