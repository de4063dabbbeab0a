//! Ten invalid schemas and their errors as people read them: `docs/schema-errors.md`.
//!
//! `UPDATE_GOLDENS=1 cargo test -p xtp-codegen --test codegen pictures` rewrites the document.

use std::path::Path;
use std::{env, fs};

use xtp_codegen::{Diagnostics, Input, Mode, Schema, Severity};

const INTRODUCTION: &str = "\
# Schema errors

`xtp-codegen` reports all problems of an [XTP schema](xtp.md) at once, each with a stable
[code](reference.md#codes-of-xtp-schemas), its position in the file, and a fix. Under the marked text is its JSON pointer, which
helps if the file was converted from JSON.

By default, an error is a schema that cannot be generated or whose meaning is unclear. Everything else that the published rules
of XTP or the library of the official generators refuse is a warning, and so is a probable mistake. With `--mode strict`, the
published rules decide what is an error; with `--mode compat`, the library does.

<!-- A test of `crates/xtp/xtp-codegen` writes this page. -->
";

struct Case {
    title: &'static str,
    mode: Mode,
    schema: &'static str,
}

const fn case(title: &'static str, schema: &'static str) -> Case {
    Case {
        title,
        mode: Mode::Lenient,
        schema,
    }
}

const CASES: [Case; 10] = [
    case(
        "Unknown type and format",
        "\
version: v1-draft
exports:
  shout:
    input: {type: text, contentType: application/json}
    output: {type: integer, format: int128, contentType: application/json}
",
    ),
    case(
        "Misspelled reference",
        "\
version: v1-draft
exports:
  greet:
    input:
      $ref: \"#/components/schemas/Persn\"
      contentType: application/json
components:
  schemas:
    Person:
      properties:
        name: {type: string}
",
    ),
    case(
        "Invalid YAML",
        "\
version: v1-draft
exports:
  greet: {description: one: two}
",
    ),
    case(
        "Duplicate key",
        "\
version: v1-draft
exports:
  greet: {}
  greet: {}
",
    ),
    case(
        "Invalid names",
        "\
version: v1-draft
exports: {}
components:
  schemas:
    Colour:
      enum: [light blue, red]
    User:
      properties:
        first-name: {type: string}
",
    ),
    case(
        "Undefined required property",
        "\
version: v1-draft
exports: {}
components:
  schemas:
    User:
      required: [name, mail]
      properties:
        name: {type: string}
",
    ),
    case(
        "Infinite value",
        "\
version: v1-draft
exports: {}
components:
  schemas:
    Person:
      required: [mother]
      properties:
        mother: {$ref: \"#/components/schemas/Person\"}
",
    ),
    case(
        "Null in a list of types",
        "\
version: v1-draft
exports: {}
components:
  schemas:
    User:
      properties:
        name: {type: [string, \"null\"]}
",
    ),
    case(
        "Warnings about other tools",
        "\
version: v1-draft
exports:
  read:
    output: {type: string, contentType: text/plain}
components:
  schemas:
    Tree:
      properties:
        children: {type: array, items: {$ref: \"#/components/schemas/Tree\"}}
        size: {type: integer, format: uint32}
        Children: {type: integer}
",
    ),
    Case {
        title: "The same in strict mode",
        mode: Mode::Strict,
        schema: "\
version: v1-draft
exports:
  read:
    output: {type: string, contentType: text/plain}
components:
  schemas:
    Size: {type: integer, format: uint32}
",
    },
];

fn problems(case: &Case) -> Diagnostics {
    let input = Input::new("schema.yaml", case.schema).mode(case.mode);
    match Schema::parse(&input) {
        Ok(schema) => schema.warnings().clone(),
        Err(problems) => problems,
    }
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (index, case) in CASES.iter().enumerate() {
        let picture = problems(case).to_picture(false);
        let lines: Vec<&str> = picture.lines().map(str::trim_end).collect();
        let picture = lines.join("\n");
        let (number, title, schema) = (index + 1, case.title, case.schema);
        let picture = picture.trim_end_matches('\n');
        page.extend([
            format!("\n## {number}. {title}\n\n"),
            format!("```yaml\n{schema}```\n\n```text\n{picture}\n```\n"),
        ]);
    }
    page
}

#[test]
fn the_page_about_errors_shows_current_messages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/schema-errors.md");
    let page = page();
    if env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/schema-errors.md is out of date: run `UPDATE_GOLDENS=1 cargo test -p xtp-codegen --test codegen pictures`"
    );
}

/// The guide shows a part of a golden, which compiles.
#[test]
fn the_guide_shows_current_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = |name: &str| {
        let path = root.join("tests/golden/guide").join(name);
        fs::read_to_string(path).unwrap()
    };
    let rust = golden("expected.rs");
    let (_, rust) = rust.split_once("\n\n").unwrap();
    let guide = fs::read_to_string(root.join("../../../docs/schemas.md")).unwrap();
    for (language, text) in [("yaml", golden("schema.yaml")), ("rust", rust.to_owned())] {
        let block = format!("```{language}\n{text}```\n");
        assert!(
            guide.contains(&block),
            "docs/schemas.md should have\n{block}"
        );
    }
}

#[test]
fn every_problem_has_a_place_in_the_text_and_a_help() {
    for case in &CASES {
        let problems = problems(case);
        assert!(!problems.is_empty());
        for problem in &problems {
            assert!(!problem.help.is_empty(), "{problem}");
            let (span, text) = (problem.span, problem.origin.text());
            assert!(text.get(span.offset..span.offset + span.len).is_some());
        }
    }
}

#[test]
fn editors_read_the_same_problems_as_json() {
    let problems = problems(&CASES[1]);
    let json: serde_json::Value = serde_json::from_str(&problems.to_json()).unwrap();
    assert_eq!(
        json,
        serde_json::json!([{
            "severity": "error",
            "code": "XTP205",
            "message": "there is no schema `Persn`",
            "help": "did you mean `Person`?",
            "file": "schema.yaml",
            "pointer": "#/exports/greet/input/$ref",
            "start": {"line": 5, "column": 13, "offset": 59},
            "end": {"line": 5, "column": 41, "offset": 87},
        }])
    );
    assert_eq!(problems.iter().next().unwrap().severity, Severity::Error);
}
