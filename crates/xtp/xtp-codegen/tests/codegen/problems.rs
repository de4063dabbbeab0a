//! Every problem that can be reported, with its code and position.

use xtp_codegen::Severity::{self, Error, Warning};
use xtp_codegen::{Code, Diagnostics, Input, Mode, Options, Schema, generate};

/// A severity and a code, the source with the problem, its line and column, and its pointer.
type Case = (Severity, Code, &'static str, (usize, usize), &'static str);

fn problems(text: &str) -> Diagnostics {
    match Schema::parse(&Input::new("schema.yaml", text)) {
        Ok(schema) => schema.warnings().clone(),
        Err(problems) => problems,
    }
}

/// Each source has exactly one problem.
fn assert_problems(cases: &[Case], complete: impl Fn(&str) -> String) {
    for (severity, code, text, place, pointer) in cases {
        let problems = problems(&complete(text));
        let found: Vec<_> = problems
            .iter()
            .map(|p| {
                let place = (p.span.line, p.span.column);
                (p.severity, p.code, place, p.pointer.as_str())
            })
            .collect();
        let expected = [(*severity, *code, *place, *pointer)];
        assert_eq!(found, expected, "{text}\n{problems}");
    }
}

#[test]
fn points_at_problems_of_the_text() {
    #[rustfmt::skip]
    let cases: &[Case] = &[
        (Error, Code::Syntax, "version: [", (2, 1), "#"),
        (Error, Code::Syntax, "a: b: c", (1, 5), "#"),
        (Error, Code::DuplicateKey, "version: v1-draft\nexports: {}\nexports: {}", (3, 1), "#"),
        (Error, Code::DocumentCount, "", (1, 1), "#"),
        (Error, Code::DocumentCount, "version: v1-draft\n---\nversion: v1-draft", (3, 1), "#"),
        (Error, Code::BeyondJson, "version: v1-draft\nexports: !map {}", (2, 10), "#/exports"),
        (Error, Code::BeyondJson, "version: v1-draft\nexports: {1: {}}", (2, 11), "#/exports"),
        (Error, Code::WrongKind, "[]", (1, 1), "#"),
        (Warning, Code::WrongKind, "version: v1-draft\nexports:", (2, 1), "#/exports"),
        (Warning, Code::UnknownKey, "version: v1-draft\nexports: {}\nexport: {}", (3, 1), "#/export"),
        (Warning, Code::MissingKey, "version: v1-draft", (1, 1), "#"),
        (Error, Code::MissingKey, "exports: {}", (1, 1), "#"),
        (Error, Code::Version, "version: v2\nexports: {}", (1, 10), "#/version"),
        (Warning, Code::Collision, "version: v0\nexports: [a, a]", (2, 14), "#/exports/1"),
        (Error, Code::Version, "version: 1\nexports: {}", (1, 10), "#/version"),
    ];
    assert_problems(cases, str::to_owned);
    let deep = format!("a:\n{}b: c", " ".repeat(300));
    assert_eq!(
        problems(&deep).iter().next().map(|p| p.code),
        Some(Code::TooDeep)
    );
}

#[test]
fn reads_a_ruler_and_every_escape_of_json() {
    let ruler = "-".repeat(300);
    let text = format!("version: v1-draft\nexports:\n  f:\n    description: |\n      {ruler}\n");
    assert!(problems(&text).is_empty());
    let deep = "- ".repeat(150);
    let codes: Vec<_> = problems(&deep).iter().map(|p| p.code).collect();
    assert_eq!(codes, [Code::TooDeep]);
    let text = r#"{"version": "v1-draft", "exports": {"f": {"description": "smile \ud83d\ude00", "nosuch": 1}}}"#;
    let found = problems(text);
    let places: Vec<_> = found.iter().map(|p| (p.code, p.span.offset)).collect();
    let expected = text.find("\"nosuch").unwrap_or_default();
    assert_eq!(places, [(Code::UnknownKey, expected)], "{found}");
}

#[test]
fn advises_to_quote_a_key_that_is_not_a_string() {
    for key in ["true", "null", "1", "~"] {
        let text = format!("version: v1-draft\nexports: {{{key}: {{}}}}");
        let found = problems(&text).to_string();
        let help = format!("help: write it in quotes: `\"{key}\"`");
        assert!(found.contains(&help), "{found}");
    }
}

#[test]
fn suggests_the_known_name_for_a_near_miss() {
    let function = |text: &str| format!("version: v1-draft\nexports: {{f: {text}}}");
    let property = |text: &str| {
        let schema = format!("A: {{properties: {{colour: {text}}}}}\nB: {{enum: [b]}}");
        with_schemas(&schema)
    };
    let cases = [
        (
            function("{inputs: {type: string}}"),
            "it has no effect; did you mean `input`?",
        ),
        (
            function("{ouput: {type: string}}"),
            "it has no effect; did you mean `output`?",
        ),
        (
            function("{output: {type: string, contenttype: x}}"),
            "did you mean `contentType`?",
        ),
        (
            function("{output: {type: string, contentType: aplication/json}}"),
            "did you mean `application/json`?",
        ),
        (
            "version: v1-draft\nexport: {}".to_owned(),
            "did you mean `exports`?",
        ),
        (
            "version: v1-draft\nexports: {}\ncomponents: {schema: {}}".to_owned(),
            "did you mean `schemas`?",
        ),
        (property("{type: strng}"), "did you mean `string`?"),
        (property("{type: int}"), "write `type: integer`"),
        (
            property("{type: string, format: datetime}"),
            "did you mean `date-time`?",
        ),
        (
            property("{type: string, nulable: true}"),
            "did you mean `nullable`?",
        ),
        (
            property("{$ref: '#/components/schemas/b'}"),
            "did you mean `B`?",
        ),
        (
            with_schemas("A: {required: [color], properties: {colour: {type: string}}}"),
            "did you mean `colour`?",
        ),
    ];
    for (text, help) in cases {
        for mode in [Mode::Lenient, Mode::Strict] {
            let found = match Schema::parse(&Input::new("schema.yaml", &text).mode(mode)) {
                Ok(schema) => schema.warnings().to_string(),
                Err(problems) => problems.to_string(),
            };
            assert!(found.contains(help), "{text}\n{found}");
        }
    }
}

/// The official library also ignores such keys, so the author's intention is lost there too.
#[test]
fn suggests_the_known_name_for_a_near_miss_in_compat_mode() {
    let function = |text: &str| format!("version: v1-draft\nexports: {{f: {text}}}");
    let misspelt = function("{inputs: {type: string}}");
    let input = Input::new("schema.yaml", &misspelt).mode(Mode::Compat);
    let schema = Schema::parse(&input).expect("only a warning");
    let found = schema.warnings().to_string();
    assert!(found.contains("did you mean `input`?"), "{found}");
}

#[test]
fn points_at_problems_of_functions() {
    #[rustfmt::skip]
    let cases: &[Case] = &[
        (Error, Code::WrongKind, "f:", (3, 3), "#/exports/f"),
        (Warning, Code::UnknownKey, "f: {inputs: {}}", (3, 7), "#/exports/f/inputs"),
        (Warning, Code::UnknownKey, "f: {ouput: {}}", (3, 7), "#/exports/f/ouput"),
        (Error, Code::Identifier, "a/b: {}", (3, 3), "#/exports/a~1b"),
        (Warning, Code::MissingKey, "f: {input: {type: string}}", (3, 7), "#/exports/f/input"),
        (Warning, Code::ContentType, "f: {input: {type: string, contentType: text/plain}}", (3, 42), "#/exports/f/input/contentType"),
        (Error, Code::RefTarget, "f: {input: {$ref: '#/components/schemas/A', contentType: application/json}}", (3, 21), "#/exports/f/input/$ref"),
        (Warning, Code::MissingKey, "f: {codeSamples: [{lang: rust}]}", (3, 21), "#/exports/f/codeSamples/0"),
        (Error, Code::UnknownType, "f: {output: {type: void, contentType: application/json}}", (3, 22), "#/exports/f/output/type"),
    ];
    assert_problems(cases, |text| {
        format!("version: v1-draft\nexports:\n  {text}\n")
    });
}

/// A schema that contains this text from line 5, column 5 on.
fn with_schemas(text: &str) -> String {
    let text = text.replace('\n', "\n    ");
    format!("version: v1-draft\nexports: {{}}\ncomponents:\n  schemas:\n    {text}\n")
}

#[test]
fn points_at_problems_of_schemas() {
    #[rustfmt::skip]
    let cases: &[Case] = &[
        (Error, Code::WrongKind, "A: yes", (5, 8), "#/components/schemas/A"),
        (Warning, Code::UnknownKey, "A: {properties: {}, title: A}", (5, 25), "#/components/schemas/A/title"),
        (Warning, Code::BeyondPublished, "A: {type: integer}", (5, 5), "#/components/schemas/A"),
        (Warning, Code::TypeKeys, "A: {type: array, properties: {a: {type: string}}}", (5, 15), "#/components/schemas/A/type"),
        (Warning, Code::BeyondLibrary, "A: {properties: {}, additionalProperties: {type: string}}", (5, 25), "#/components/schemas/A/additionalProperties"),
        (Error, Code::Required, "A: {properties: {a: {type: string}}, required: [b]}", (5, 53), "#/components/schemas/A/required/0"),
        (Warning, Code::Required, "A: {properties: {a: {type: string}}, required: [a, a]}", (5, 56), "#/components/schemas/A/required/1"),
        (Warning, Code::EnumValues, "A: {enum: []}", (5, 5), "#/components/schemas/A"),
        (Warning, Code::EnumValues, "A: {enum: [a, a]}", (5, 19), "#/components/schemas/A/enum/1"),
        (Warning, Code::WrongKind, "A: {enum: a}", (5, 15), "#/components/schemas/A/enum"),
        (Error, Code::WrongKind, "A: {enum: [1]}", (5, 16), "#/components/schemas/A/enum/0"),
        (Error, Code::Identifier, "A-B: {enum: [a]}", (5, 5), "#/components/schemas/A-B"),
        (Error, Code::Identifier, "A: {enum: [a b]}", (5, 16), "#/components/schemas/A/enum/0"),
    ];
    assert_problems(cases, with_schemas);
}

#[test]
fn points_at_problems_of_properties() {
    let a = "#/components/schemas/A/properties/a";
    #[rustfmt::skip]
    let cases: &[(Severity, Code, &str, usize, &str)] = &[
        (Warning, Code::WrongKind, "a:", 7, ""),
        (Warning, Code::MissingKey, "a: {}", 7, ""),
        (Warning, Code::UnknownKey, "a: {type: string, default: x}", 25, "/default"),
        (Warning, Code::WrongKind, "a: {type: string, description: 1}", 38, "/description"),
        (Error, Code::WrongKind, "a: {type: string, nullable: 'no'}", 35, "/nullable"),
        (Error, Code::UnknownType, "a: {type: [string, 'null']}", 17, "/type"),
        (Error, Code::UnknownType, "a: {type: text}", 17, "/type"),
        (Warning, Code::BeyondPublished, "a: {enum: [x]}", 11, "/enum"),
        (Warning, Code::BeyondPublished, "a: {properties: {}}", 11, "/properties"),
        (Warning, Code::BeyondPublished, "a: {type: integer, format: uint8}", 34, "/format"),
        (Error, Code::Format, "a: {type: string, format: uri}", 33, "/format"),
        (Error, Code::Format, "a: {type: string, format: int32}", 33, "/format"),
        (Error, Code::Format, "a: {type: boolean, format: byte}", 34, "/format"),
        (Warning, Code::TypeKeys, "a: {type: array}", 7, ""),
        (Warning, Code::TypeKeys, "a: {type: string, items: {type: string}}", 25, "/items"),
        (Warning, Code::BeyondLibrary, "a: {additionalProperties: {type: string}}", 11, "/additionalProperties"),
        (Warning, Code::BeyondLibrary, "a: {type: object, additionalProperties: true}", 47, "/additionalProperties"),
        (Warning, Code::MissingKey, "a: {type: array, items: {}}", 24, "/items"),
        (Error, Code::RefForm, "a: {$ref: '#/exports/f'}", 17, "/$ref"),
        (Warning, Code::RefForm, "a: {$ref: '#/components/schemas/B/enum/b'}", 17, "/$ref"),
        (Error, Code::RefTarget, "a: {$ref: '#/components/schemas/a'}", 17, "/$ref"),
        (Warning, Code::TypeKeys, "a: {$ref: '#/components/schemas/B', type: object}", 43, "/type"),
        (Warning, Code::Cycle, "a: {type: array, items: {$ref: '#/components/schemas/A'}}", 38, "/items/$ref"),
    ];
    for (severity, code, text, column, pointer) in cases {
        let schema = format!("A:\n properties:\n  {text}\nB: {{enum: [b]}}");
        let found = problems(&with_schemas(&schema));
        let first = found.iter().next().expect("there is a problem");
        let place = (
            first.severity,
            first.code,
            first.span.line,
            first.span.column,
        );
        assert_eq!(place, (*severity, *code, 7, *column), "{text}\n{found}");
        assert_eq!(first.pointer, format!("{a}{pointer}"));
        assert_eq!(found.iter().count(), 1, "{text}\n{found}");
    }
}

#[test]
fn points_at_names_that_collide() {
    let cases = [
        (
            "A: {properties: {_meta: {type: string}, meta: {type: string}}}",
            5,
            22,
            "`_meta` is `meta2`",
        ),
        (
            "A: {properties: {x: {type: string}, $: {type: string}}}",
            5,
            41,
            "`$` is `x2`",
        ),
        ("A: {enum: [foo, Foo]}", 5, 16, "`foo` is `Foo2`"),
        (
            "fooBar: {enum: [a]}\nfoo_bar: {enum: [a]}",
            6,
            5,
            "`foo_bar` is `FooBar2`",
        ),
    ];
    for (text, line, column, name) in cases {
        let found = problems(&with_schemas(text)).to_string();
        let expected = format!("schema.yaml:{line}:{column}: warning[XTP302]: {name} in Rust");
        assert!(found.starts_with(&expected), "{text}\n{found}");
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
fn describes_a_cycle_by_its_path() {
    let text = "A:\n properties:\n  b: {$ref: '#/components/schemas/B'}\nB:\n properties:\n  a: {type: array, items: {$ref: '#/components/schemas/A'}}";
    let found = problems(&with_schemas(text)).to_string();
    assert!(
        found.contains("`A` contains itself: `A.b` → `B.a` → `A`"),
        "{found}"
    );
}

#[test]
fn refuses_tags_for_other_schemas_and_second_tags() {
    let union = |mapping: &str| {
        let text = format!(
            "A: {{properties: {{a: {{type: string}}}}}}\nB: {{properties: {{}}}}\nU:\n  oneOf: [{{$ref: '#/components/schemas/A'}}]\n  discriminator: {{propertyName: kind, mapping: {{{mapping}}}}}"
        );
        let schema = with_schemas(&text);
        let input = Input::new("schema.yaml", &schema).one_of(true);
        Schema::parse(&input).expect_err(mapping).to_string()
    };
    let message = union("b: '#/components/schemas/B'");
    assert!(
        message.contains("`B` is not a member of the union"),
        "{message}"
    );
    let message = union("none: '#/components/schemas/None'");
    assert!(
        message.contains("`None` is not a member of the union"),
        "{message}"
    );
    let message = union("old: '#/components/schemas/A', new: '#/components/schemas/A'");
    assert!(message.contains("`A` is tagged `old` already"), "{message}");
}

#[test]
fn reports_an_option_that_is_not_rust() {
    let schema = with_schemas("A: {enum: [a]}");
    let options = Options::new().free_form("not a type");
    let problems = generate(&Input::new("schema.yaml", &schema), &options)
        .expect_err("the option has a problem");
    let found = problems.to_string();
    assert!(
        found.contains("error[XTP902]: `not a type` is not a Rust type"),
        "{found}"
    );
}

#[test]
fn reports_an_option_for_a_property_that_does_not_exist() {
    let schema = with_schemas("A: {properties: {a: {type: object}}}\nB: {enum: [a]}");
    for (schema_name, property) in [("A", "b"), ("B", "a"), ("C", "a")] {
        let options = Options::new().any_json_property(schema_name, property);
        let problems = generate(&Input::new("schema.yaml", &schema), &options)
            .expect_err("there is no such property");
        let found = problems.to_string();
        let message =
            format!("error[XTP902]: the schema has no property `{schema_name}.{property}`");
        assert!(found.contains(&message), "{found}");
    }
}

#[test]
fn words_that_are_no_booleans_have_the_boolean_that_they_mean() {
    for (word, severity, help) in [
        ("no", Error, "write `nullable: false`"),
        ("off", Error, "write `nullable: false`"),
        ("n", Error, "write `nullable: false`"),
        ("'false'", Error, "write `nullable: false`"),
        ("yes", Warning, "write `nullable: true`"),
    ] {
        let text = format!(
            "version: v1-draft\nexports: {{}}\ncomponents: {{schemas: {{A: {{properties: {{a: {{type: string, nullable: {word}}}}}}}}}}}"
        );
        let problems = problems(&text);
        let found: Vec<_> = problems
            .iter()
            .map(|one| (one.severity, &*one.help))
            .collect();
        assert_eq!(found, [(severity, help)], "{word}\n{problems}");
    }
}
