//! Every problem that can be reported: its code and where it points.

use xtp_codegen::{Code, Diagnostics, Input, Options, Schema, generate};

/// A code, the text that has the problem, its line and column, and its pointer.
type Case = (Code, &'static str, (usize, usize), &'static str);

fn problems(text: &str) -> Diagnostics {
    let parsed = Schema::parse(&Input::new("schema.yaml", text));
    parsed.expect_err("the schema has a problem")
}

/// Each text has exactly the one problem.
fn check(cases: &[Case], complete: impl Fn(&str) -> String) {
    for (code, text, place, pointer) in cases {
        let problems = problems(&complete(text));
        let found: Vec<_> = problems
            .iter()
            .map(|p| (p.code, (p.span.line, p.span.column), p.pointer.as_str()))
            .collect();
        assert_eq!(found, [(*code, *place, *pointer)], "{text}\n{problems}");
    }
}

#[test]
fn points_at_problems_of_the_text() {
    #[rustfmt::skip]
    let cases: [Case; 14] = [
        (Code::Syntax, "version: [", (2, 1), "#"),
        (Code::Syntax, "a: b: c", (1, 5), "#"),
        (Code::DuplicateKey, "version: v1-draft\nexports: {}\nexports: {}", (3, 1), "#"),
        (Code::DocumentCount, "", (1, 1), "#"),
        (Code::DocumentCount, "version: v1-draft\n---\nversion: v1-draft", (3, 1), "#"),
        (Code::BeyondJson, "version: v1-draft\nexports: !map {}", (2, 10), "#/exports"),
        (Code::BeyondJson, "version: v1-draft\nexports: {1: {}}", (2, 11), "#/exports"),
        (Code::WrongKind, "[]", (1, 1), "#"),
        (Code::WrongKind, "version: v1-draft\nexports:", (2, 1), "#/exports"),
        (Code::UnknownKey, "version: v1-draft\nexports: {}\nexport: {}", (3, 1), "#/export"),
        (Code::MissingKey, "version: v1-draft", (1, 1), "#"),
        (Code::MissingKey, "exports: {}", (1, 1), "#"),
        (Code::Version, "version: v2\nexports: {}", (1, 10), "#/version"),
        (Code::Unsupported, "version: v0\nexports: [call]", (1, 10), "#/version"),
    ];
    check(&cases, str::to_owned);
    let deep = format!("a:\n{}b: c", " ".repeat(300));
    assert_eq!(
        problems(&deep).iter().next().map(|p| p.code),
        Some(Code::TooDeep)
    );
}

#[test]
fn points_at_problems_of_functions() {
    #[rustfmt::skip]
    let cases: [Case; 8] = [
        (Code::WrongKind, "f:", (3, 3), "#/exports/f"),
        (Code::UnknownKey, "f: {inputs: {}}", (3, 7), "#/exports/f/inputs"),
        (Code::Identifier, "a/b: {}", (3, 3), "#/exports/a~1b"),
        (Code::MissingKey, "f: {input: {type: string}}", (3, 7), "#/exports/f/input"),
        (Code::ContentType, "f: {input: {type: string, contentType: text/plain}}", (3, 42), "#/exports/f/input/contentType"),
        (Code::RefTarget, "f: {input: {$ref: '#/components/schemas/A', contentType: application/json}}", (3, 21), "#/exports/f/input/$ref"),
        (Code::MissingKey, "f: {codeSamples: [{lang: rust}]}", (3, 21), "#/exports/f/codeSamples/0"),
        (Code::UnknownType, "f: {output: {type: void, contentType: application/json}}", (3, 22), "#/exports/f/output/type"),
    ];
    check(&cases, |text| {
        format!("version: v1-draft\nexports:\n  {text}\n")
    });
}

/// A schema whose fifth line, from its fifth column on, is the given one.
fn with_schemas(text: &str) -> String {
    let text = text.replace('\n', "\n    ");
    format!("version: v1-draft\nexports: {{}}\ncomponents:\n  schemas:\n    {text}\n")
}

#[test]
fn points_at_problems_of_schemas() {
    #[rustfmt::skip]
    let cases: [Case; 15] = [
        (Code::WrongKind, "A: yes", (5, 8), "#/components/schemas/A"),
        (Code::UnknownKey, "A: {properties: {}, title: A}", (5, 25), "#/components/schemas/A/title"),
        (Code::Unsupported, "A: {type: integer}", (5, 5), "#/components/schemas/A"),
        (Code::TypeKeys, "A: {type: array, properties: {}}", (5, 15), "#/components/schemas/A/type"),
        (Code::TypeKeys, "A: {properties: {}, additionalProperties: {type: string}}", (5, 25), "#/components/schemas/A/additionalProperties"),
        (Code::Required, "A: {properties: {a: {type: string}}, required: [b]}", (5, 53), "#/components/schemas/A/required/0"),
        (Code::Required, "A: {properties: {a: {type: string}}, required: [a, a]}", (5, 56), "#/components/schemas/A/required/1"),
        (Code::EnumValues, "A: {enum: []}", (5, 5), "#/components/schemas/A"),
        (Code::EnumValues, "A: {enum: [a, a]}", (5, 19), "#/components/schemas/A/enum/1"),
        (Code::WrongKind, "A: {enum: a}", (5, 15), "#/components/schemas/A/enum"),
        (Code::WrongKind, "A: {enum: [1]}", (5, 16), "#/components/schemas/A/enum/0"),
        (Code::Identifier, "A-B: {enum: [a]}", (5, 5), "#/components/schemas/A-B"),
        (Code::Identifier, "A: {enum: [a b]}", (5, 16), "#/components/schemas/A/enum/0"),
        (Code::TypeCollision, "fooBar: {enum: [a]}\nfoo_bar: {enum: [a]}", (6, 5), "#/components/schemas/foo_bar"),
        (Code::VariantCollision, "A: {enum: [foo, Foo]}", (5, 21), "#/components/schemas/A/enum/1"),
    ];
    check(&cases, with_schemas);
}

#[test]
fn points_at_problems_of_properties() {
    let a = "#/components/schemas/A/properties/a";
    #[rustfmt::skip]
    let cases: [(Code, &str, usize, &str); 22] = [
        (Code::WrongKind, "a:", 7, ""),
        (Code::MissingKey, "a: {}", 7, ""),
        (Code::UnknownKey, "a: {type: string, default: x}", 25, "/default"),
        (Code::WrongKind, "a: {type: string, description: 1}", 38, "/description"),
        (Code::WrongKind, "a: {type: string, nullable: 'no'}", 35, "/nullable"),
        (Code::WrongKind, "a: {type: [string, 'null']}", 17, "/type"),
        (Code::UnknownType, "a: {type: text}", 17, "/type"),
        (Code::Unsupported, "a: {type: buffer}", 17, "/type"),
        (Code::Unsupported, "a: {enum: [x]}", 11, "/enum"),
        (Code::Unsupported, "a: {properties: {}}", 11, "/properties"),
        (Code::Format, "a: {type: string, format: int32}", 33, "/format"),
        (Code::Format, "a: {type: boolean, format: byte}", 34, "/format"),
        (Code::TypeKeys, "a: {type: array}", 7, ""),
        (Code::TypeKeys, "a: {type: string, items: {type: string}}", 17, "/type"),
        (Code::TypeKeys, "a: {additionalProperties: {type: string}}", 11, "/additionalProperties"),
        (Code::WrongKind, "a: {type: object, additionalProperties: true}", 47, "/additionalProperties"),
        (Code::MissingKey, "a: {type: array, items: {}}", 24, "/items"),
        (Code::RefForm, "a: {$ref: '#/exports/f'}", 17, "/$ref"),
        (Code::RefForm, "a: {$ref: '#/components/schemas/A/properties/a'}", 17, "/$ref"),
        (Code::RefTarget, "a: {$ref: '#/components/schemas/a'}", 17, "/$ref"),
        (Code::TypeKeys, "a: {$ref: '#/components/schemas/B', type: object}", 43, "/type"),
        (Code::Cycle, "a: {type: array, items: {$ref: '#/components/schemas/A'}}", 38, "/items/$ref"),
    ];
    for (code, text, column, pointer) in cases {
        let schema = format!("A:\n properties:\n  {text}\nB: {{enum: [b]}}");
        let found = problems(&with_schemas(&schema));
        let first = found.iter().next().expect("problems are never empty");
        let place = (first.code, first.span.line, first.span.column);
        assert_eq!(place, (code, 7, column), "{text}\n{found}");
        assert_eq!(first.pointer, format!("{a}{pointer}"));
        assert_eq!(found.iter().count(), 1, "{text}\n{found}");
    }
}

#[test]
fn points_at_names_that_collide_as_fields() {
    for (one, two) in [
        ("_meta", "meta"),
        ("Resource", "resource"),
        ("aB", "a_b"),
        ("$", "x"),
    ] {
        let text =
            format!("A:\n properties:\n  {one}: {{type: string}}\n  {two}: {{type: string}}");
        let found = problems(&with_schemas(&text));
        let text = found.to_string();
        assert!(
            text.starts_with("schema.yaml:8:7: error[XTP303]: "),
            "{text}"
        );
        assert!(text.contains(&format!(
            "\n  help: rename one of them; `{one}` is on line 7"
        )));
    }
}

#[test]
fn reports_everything_at_once_in_the_order_of_the_text() {
    let text = "A:\n properties:\n  a: {type: text}\n  b: {type: array, items: {$ref: '#/components/schemas/C'}}\n required: [c]\nB-: {enum: []}";
    let found = problems(&with_schemas(text));
    let codes: Vec<_> = found.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(
        codes,
        ["XTP201", "XTP205", "XTP206", "XTP301", "XTP207"],
        "{found}"
    );
}

#[test]
fn words_a_cycle_as_the_way_around() {
    let text = "A:\n properties:\n  b: {$ref: '#/components/schemas/B'}\nB:\n properties:\n  a: {type: array, items: {$ref: '#/components/schemas/A'}}";
    let found = problems(&with_schemas(text)).to_string();
    assert!(
        found.contains("`A` contains itself: `A.b` → `B.a` → `A`"),
        "{found}"
    );
}

#[test]
fn points_into_the_overlay() {
    let schema = with_schemas("A: {properties: {a: {type: object}}}");
    let cases = [
        (Code::OverlayAddress, "A: {}", 3),
        (Code::OverlayAddress, "A.b: {}", 3),
        (Code::OverlayFragment, "A.a: {oneOf: []}", 9),
        (Code::WrongKind, "A.a: true", 8),
    ];
    for (code, text, column) in cases {
        let overlay = format!("version: v1-draft\noverlay:\n  {text}");
        let input = Input::new("schema.yaml", &schema).overlay("overlay.yaml", &overlay);
        let found = Schema::parse(&input).expect_err("the overlay has a problem");
        let place = format!("overlay.yaml:3:{column}: error[{code}]: ");
        assert!(found.to_string().starts_with(&place), "{found}");
        assert_eq!(found.iter().count(), 1, "{found}");
    }
}

#[test]
fn reports_an_option_that_is_not_rust() {
    let schema = with_schemas("A: {enum: [a]}");
    let options = Options::new().free_form("not a type");
    let found = generate(&Input::new("schema.yaml", &schema), &options);
    let found = found.expect_err("the option has a problem").to_string();
    assert!(
        found.contains("error[XTP902]: `not a type` is not a Rust type"),
        "{found}"
    );
}
