//! Compares the generated code of small schemas with goldens, byte by byte.
//!
//! `UPDATE_GOLDENS=1 cargo test -p xtp-codegen --test codegen goldens` rewrites the goldens.

use std::path::{Path, PathBuf};
use std::{env, fs};

use xtp_codegen::{Dates, Input, Options, Schema, generate};

/// The directories of all cases, in order.
fn cases() -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(golden).unwrap();
    let mut cases: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn generated(case: &Path) -> String {
    let name = case.file_name().unwrap().to_str().unwrap();
    let schema = fs::read_to_string(case.join("schema.yaml")).unwrap();
    let input = Input::new("schema.yaml", &schema)
        .one_of(name.starts_with("one-of"))
        .unlisted_required(name == "unlisted");
    let generated = if name.starts_with("plugin") {
        Schema::parse(&input).and_then(|schema| schema.to_plugin(&options(name)))
    } else {
        generate(&input, &options(name))
    };
    generated.unwrap_or_else(|problems| panic!("{name}:\n{problems}"))
}

/// The options of a case. Cases without an entry test the default for types, without conversions.
fn options(name: &str) -> Options {
    let options = Options::new();
    match name {
        "any-json" => options
            .conversions(false)
            .any_json_property("Answer", "must")
            .any_json_property("Answer", "may"),
        "plugin-open" => Options::for_plugin().own_file(true),
        "catch-all" => options.catch_all(true),
        "dates-chrono" => options.dates(Dates::Chrono),
        "dates-jiff" => options.dates(Dates::Jiff),
        "dates-time" => options.dates(Dates::Time),
        "decoded-bytes" => options.decode_byte(true),
        "keep-null" => options.keep_null(true),
        "enum-conversions" => options,
        _ => options.conversions(false),
    }
}

#[test]
fn generates_the_expected_code() {
    let update = env::var_os("UPDATE_GOLDENS").is_some();
    for case in cases() {
        let expected = case.join("expected.rs");
        let text = generated(&case);
        if update {
            fs::write(&expected, &text).unwrap();
        }
        let found = fs::read_to_string(&expected).unwrap_or_default();
        assert!(
            found == text,
            "{} is out of date: run `UPDATE_GOLDENS=1 cargo test -p xtp-codegen --test codegen goldens`, then read the diff",
            expected.display(),
        );
        let lines = text.lines().count();
        assert!(lines <= 500, "{} is too long to review", expected.display());
    }
}

#[test]
fn generates_the_same_twice() {
    for case in cases() {
        assert_eq!(generated(&case), generated(&case));
    }
}
