//! Properties that hold for every input. The tests run the corpus through it.

use xtp_codegen::{Code, Diagnostics, Input, Mode, Options, Schema};

/// Reads, judges and generates with every option.
///
/// # Panics
/// If something panics, if the generator reports a bug of its own, if the output is not Rust, or if
/// a problem lacks its position or a help.
pub(crate) fn survive(text: &str) {
    for mode in [Mode::Lenient, Mode::Strict, Mode::Compat] {
        let input = Input::new("schema.yaml", text).mode(mode);
        match Schema::parse(&input) {
            Ok(schema) => {
                explained(schema.warnings(), text);
                generated(&schema, text);
            }
            Err(problems) => {
                assert!(problems.has_errors());
                explained(&problems, text);
            }
        }
    }
    let input = Input::new("schema.yaml", text);
    if let Ok(schema) = Schema::parse(&input.one_of(true).unlisted_required(true)) {
        generated(&schema, text);
    }
}

fn explained(problems: &Diagnostics, text: &str) {
    for problem in problems {
        let span = problem.span;
        let inside = text.get(span.offset..span.offset + span.len);
        assert!(inside.is_some(), "{problem}");
        assert!(!problem.help.is_empty(), "{problem}");
    }
    drop(problems.to_json());
}

fn generated(schema: &Schema, text: &str) {
    let options = Options::new();
    let other = options
        .clone()
        .keep_null(true)
        .catch_all(true)
        .decode_byte(true);
    for options in [options, other] {
        match schema.to_rust(&options) {
            Ok(rust) => drop(syn::parse_file(&rust).expect("generated code is valid Rust")),
            Err(problems) => {
                let internal = problems.iter().any(|p| p.code == Code::Internal);
                assert!(!internal, "{text}\n{problems}");
            }
        }
    }
}
