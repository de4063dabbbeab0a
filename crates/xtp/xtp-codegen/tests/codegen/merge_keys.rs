//! YAML's merge keys and aliases.

use xtp_codegen::{Code, Input, Options, Schema, generate};

fn schemas(text: &str) -> String {
    let text = text.replace('\n', "\n    ");
    format!("version: v1-draft\nexports: {{}}\ncomponents:\n  schemas:\n    {text}\n")
}

fn rust(text: &str) -> String {
    let rust = generate(&Input::new("schema.yaml", text), &Options::new());
    rust.unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

/// All problems: code, line and column.
fn problems(text: &str) -> Vec<(Code, usize, usize)> {
    let found = match Schema::parse(&Input::new("schema.yaml", text)) {
        Ok(schema) => schema.warnings().clone(),
        Err(problems) => problems,
    };
    let places = found.iter().map(|p| (p.code, p.span.line, p.span.column));
    places.collect()
}

#[test]
fn a_merge_key_means_the_entries_that_it_adds() {
    let base = "A: {properties: &a {x: {type: string}, y: {type: integer}}}\nB: {properties: &b {y: {type: boolean}, z: {type: number}}}\n";
    let cases = [
        (
            "C: {properties: {<<: *a}}",
            "x: {type: string}, y: {type: integer}",
        ),
        (
            "C: {properties: {<<: *b, y: {type: string}}}",
            "z: {type: number}, y: {type: string}",
        ),
        (
            "C: {properties: {y: {type: string}, <<: *b}}",
            "y: {type: string}, z: {type: number}",
        ),
        (
            "C: {properties: {<<: [*b, *a]}}",
            "y: {type: boolean}, z: {type: number}, x: {type: string}",
        ),
        (
            "C: {properties: {<<: {<<: *a, x: {type: number}}}}",
            "y: {type: integer}, x: {type: number}",
        ),
        ("C:\n  properties:\n    <<: *a\n    <<  : *b", ""),
    ];
    for (merged, written) in &cases[..5] {
        let expected = format!("{base}C: {{properties: {{{written}}}}}");
        let merged = format!("{base}{merged}");
        assert_eq!(
            rust(&schemas(&merged)),
            rust(&schemas(&expected)),
            "{merged}"
        );
    }
    // Two merge keys in one map are one key twice.
    let twice = schemas(&format!("{base}{}", cases[5].0));
    assert_eq!(problems(&twice), [(Code::DuplicateKey, 10, 9)]);
}

#[test]
fn a_merged_entry_keeps_its_place_and_has_its_problem_once() {
    let text = schemas(
        "A:\n  properties: &a\n    x: {type: nubmer}\nB: {properties: {<<: *a}}\nC: {properties: *a}",
    );
    assert_eq!(problems(&text), [(Code::UnknownType, 7, 19)]);
}

#[test]
fn only_maps_can_be_merged_and_a_quoted_key_is_a_key() {
    for value in ["x", "[x]", "", "[[]]"] {
        let text = schemas(&format!("A: {{properties: {{<<: {value}}}}}"));
        assert_eq!(
            problems(&text).first().map(|p| p.0),
            Some(Code::WrongKind),
            "{text}"
        );
    }
    let text = schemas("A: {properties: {\"<<\": {type: string}}}");
    assert_eq!(problems(&text), [(Code::Identifier, 5, 22)]);
}

#[test]
fn aliases_are_bounded() {
    let wide_lines: Vec<String> = (1..40)
        .map(|n| format!("- &a{n} [*a{0}, *a{0}]\n", n - 1))
        .collect();
    let wide = format!("- &a0 x\n{}", wide_lines.concat());
    assert_eq!(problems(&wide).first().map(|p| p.0), Some(Code::Aliases));
    let merged_lines: Vec<String> = (1..40)
        .map(|n| format!("a{n}: &a{n} {{<<: *a{0}, b{n}: *a{0}}}\n", n - 1))
        .collect();
    let merged = format!("a0: &a0 {{x: 1}}\n{}", merged_lines.concat());
    assert_eq!(problems(&merged).first().map(|p| p.0), Some(Code::Aliases));
    let (open, close) = ("[".repeat(200), "]".repeat(200));
    let deep_lines: Vec<String> = (1..30)
        .map(|n| format!("- &a{n} {open}*a{}{close}\n", n - 1))
        .collect();
    let deep = format!("- &a0 x\n{}", deep_lines.concat());
    assert_eq!(problems(&deep), [(Code::Aliases, 4, 207)]);
}
