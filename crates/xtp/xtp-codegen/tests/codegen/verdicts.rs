//! The verdicts of the published rules and the official library on the same schema, and ours.

use xtp_codegen::{Input, Mode, Schema};

use crate::{input, library, property, published, schemas, yaml};

use Verdict::{Accept, Crash, Refuse};

/// A verdict on a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accept,
    Refuse,
    /// Fails without an answer.
    Crash,
}

fn parse(text: &str, mode: Mode) -> Result<Schema, String> {
    let input = Input::new("schema.yaml", text).mode(mode);
    Schema::parse(&input).map_err(|problems| problems.to_string())
}

/// Checks both verdicts on the documents, and that our modes agree. By default we accept what the library accepts.
fn judge(texts: &[String], published: Verdict, library: Verdict) {
    for text in texts {
        let found = published::violations(&yaml::to_json(text));
        assert_eq!(found.is_empty(), published == Accept, "{text}\n{found:?}");
        let report = library::report(text);
        let verdict = match &report.crashed {
            Some(_) => Crash,
            None if report.accepted() => Accept,
            None => Refuse,
        };
        assert_eq!(verdict, library, "{text}\n{report:?}");
        assert_eq!(
            library::missed(text, &report),
            Vec::<String>::new(),
            "{text}"
        );
        let strict = parse(text, Mode::Strict).map(drop);
        assert_eq!(strict.is_ok(), published == Accept, "{text}\n{strict:?}");
        let compat = parse(text, Mode::Compat).map(drop);
        assert_eq!(compat.is_ok(), library == Accept, "{text}\n{compat:?}");
        lenient(text, published, library);
    }
}

/// A warning names a difference to the published rules; what we refuse has an error.
fn lenient(text: &str, published: Verdict, library: Verdict) {
    match parse(text, Mode::Lenient) {
        Ok(schema) if library != Accept || published != Accept => {
            assert!(!schema.warnings().is_empty(), "{text}");
        }
        Ok(_) => {}
        Err(problems) => assert_ne!(library, Accept, "{text}\n{problems}"),
    }
}

fn each(texts: &[&str], whole: impl Fn(&str) -> String) -> Vec<String> {
    texts.iter().map(|text| whole(text)).collect()
}

fn plain(text: &str) -> String {
    text.to_owned()
}

#[test]
fn v0_with_an_illegal_identifier_or_another_key() {
    let texts = [
        "{version: v0, exports: ['a b']}",
        "{version: v0, exports: [a], imports: {}}",
    ];
    judge(&each(&texts, plain), Refuse, Accept);
}

#[test]
fn v0_without_exports_or_with_a_map_of_them() {
    let texts = ["{version: v0}", "{version: v0, exports: {a: {}}}"];
    judge(&each(&texts, plain), Refuse, Crash);
}

#[test]
fn v1_without_exports() {
    let texts = ["{version: v1-draft}", "{version: v1-draft, exports: null}"];
    judge(&each(&texts, plain), Refuse, Accept);
}

#[test]
fn exports_as_a_list() {
    let text = "{version: v1-draft, exports: [a, b]}";
    judge(&[plain(text)], Refuse, Refuse);
    let names: Vec<_> = library(text).into_iter().map(|(_, path)| path).collect();
    assert_eq!(names, ["#/exports/0", "#/exports/1"]);
}

#[test]
fn empty_export() {
    judge(
        &[plain("{version: v1-draft, exports: {foo: }}")],
        Refuse,
        Crash,
    );
}

#[test]
fn unknown_keys() {
    let keys = ["x-foo: 1", "default: x", "minimum: 1", "oneOf: []"];
    let mut texts = each(&keys, |key| property(&format!("{{type: string, {key}}}")));
    texts.extend(each(&keys, |key| {
        format!("{{version: v1-draft, exports: {{}}, {key}}}")
    }));
    texts.extend(each(&keys, |key| {
        format!("{{version: v1-draft, exports: {{f: {{{key}}}}}}}")
    }));
    texts.extend(each(&keys, |key| {
        format!("{{version: v1-draft, exports: {{}}, imports: {{f: {{{key}}}}}}}")
    }));
    judge(&texts, Refuse, Accept);
    // The library also checks what is below an unknown key.
    let below = property("{type: string, x-foo: {type: nonsense}}");
    assert_eq!(library(&below).len(), 1);
}

#[test]
fn content_type_missing_or_unknown() {
    let texts = [
        "{type: string}",
        "{type: string, contentType: text/plain}",
        "{type: string, contentType: text/plain; charset=UTF-8}",
    ];
    judge(&each(&texts, input), Refuse, Accept);
}

#[test]
fn values_of_the_wrong_kind() {
    let texts = [
        input("{contentType: application/json}"),
        "{version: v1-draft, exports: {f: {codeSamples: [{lang: rust}]}}}".to_owned(),
        property("{type: string, nullable: 'yes'}"),
        property("null"),
        property("true"),
        schemas("A: {properties: {a: {type: string}}, required: a}"),
    ];
    judge(&texts, Refuse, Accept);
}

#[test]
fn reference_to_something_else() {
    let texts = [
        "{$ref: '#/exports/g'}",
        "{$ref: 'other.yaml#/components/schemas/B'}",
    ];
    judge(&each(&texts, property), Refuse, Refuse);
}

#[test]
fn reference_into_a_schema() {
    judge(
        &[property("{$ref: '#/components/schemas/B/properties/x'}")],
        Refuse,
        Accept,
    );
}

#[test]
fn reference_beside_a_type() {
    judge(
        &[property("{$ref: '#/components/schemas/B', type: string}")],
        Refuse,
        Accept,
    );
}

#[test]
fn schema_that_is_neither_object_nor_enum() {
    let texts = [
        "A: {$ref: '#/components/schemas/B'}, B: {enum: [b]}",
        "A: {type: integer}",
        "A: {type: array, items: {type: string}}",
        "A: {type: object, additionalProperties: {type: string}}",
        "A: {type: buffer}",
    ];
    judge(&each(&texts, schemas), Refuse, Accept);
}

#[test]
fn object_schema_with_a_type() {
    judge(
        &[schemas(
            "A: {type: object, properties: {a: {type: string}}}",
        )],
        Refuse,
        Accept,
    );
}

#[test]
fn map_without_a_type() {
    judge(
        &[property("{additionalProperties: {type: string}}")],
        Accept,
        Refuse,
    );
}

#[test]
fn additional_properties_that_are_anything() {
    judge(
        &[property("{type: object, additionalProperties: true}")],
        Refuse,
        Crash,
    );
}

#[test]
fn additional_properties_that_are_nothing() {
    let text = schemas("A: {properties: {a: {type: string}}, additionalProperties: false}");
    judge(&[text], Refuse, Accept);
}

#[test]
fn nested_and_inline_types() {
    let map = "{type: object, additionalProperties: {type: object, additionalProperties: {type: string}}}";
    let list = "{type: array, items: {type: array, items: {type: string}}}";
    let references = "{type: array, items: {type: array, items: {$ref: '#/components/schemas/B'}}}";
    let texts = [
        map,
        list,
        references,
        "{enum: [a]}",
        "{properties: {b: {type: string}}}",
    ];
    judge(&each(&texts, property), Refuse, Accept);
}

#[test]
fn values_of_maps_and_items_of_lists() {
    let texts = [
        "{type: object, additionalProperties: {$ref: '#/components/schemas/B'}}",
        "{type: object, additionalProperties: {type: string, nullable: true}}",
        "{type: object, additionalProperties: {type: array, items: {type: string}}}",
        "{type: array, items: {type: object, additionalProperties: {type: string}}}",
    ];
    judge(&each(&texts, property), Accept, Accept);
}

#[test]
fn formats_of_other_types() {
    let texts = [
        "{type: buffer, format: byte}",
        "{type: number, format: int32}",
    ];
    judge(&each(&texts, property), Accept, Refuse);
    judge(&[property("{format: int32}")], Refuse, Refuse);
}

#[test]
fn enum_without_values_or_with_one_twice() {
    judge(
        &each(&["A: {enum: []}", "A: {enum: [a, a]}"], schemas),
        Accept,
        Accept,
    );
}

#[test]
fn enum_that_is_a_string() {
    judge(&[schemas("A: {enum: form}")], Refuse, Accept);
}

#[test]
fn enum_of_numbers_or_odd_words() {
    judge(&[schemas("A: {enum: [1, 2]}")], Refuse, Crash);
    judge(&[schemas("A: {enum: [a-b]}")], Refuse, Refuse);
}

#[test]
fn required_but_not_defined() {
    let text = schemas("A: {properties: {a: {type: string}}, required: [b]}");
    judge(&[text], Accept, Refuse);
}

#[test]
fn problems_within_lists_and_maps() {
    for text in [
        "{type: array, items: {type: text}}",
        "{type: object, additionalProperties: {type: text}}",
        "{type: array, items: {$ref: '#/components/schemas/Nope'}}",
    ] {
        let text = property(text);
        let found = library(&text);
        assert_eq!((found.len(), &found[0].0), (2, &found[1].0), "{text}");
        let problems = parse(&text, Mode::Compat).unwrap_err();
        assert_eq!(problems.matches("error[").count(), 1, "{problems}");
    }
}

#[test]
fn cycles() {
    let to = |name: &str, more: &str| format!("{{$ref: '#/components/schemas/{name}'{more}}}");
    let one = |edge: &str| schemas(&format!("A: {{properties: {{a: {edge}}}}}"));
    let three = |first: &str| {
        let (b, c, a) = (to("B", ""), to("C", ""), to("A", ""));
        schemas(&format!(
            "{first}A: {{properties: {{x: {b}}}}}, B: {{properties: {{x: {c}}}}}, C: {{properties: {{x: {a}}}}}"
        ))
    };
    let outside = format!("R: {{properties: {{a: {}}}}}, ", to("A", ""));
    let texts = [
        one(&to("A", "")),
        one(&to("A", ", nullable: true")),
        one(&format!("{{type: array, items: {}}}", to("A", ""))),
        one(&format!(
            "{{type: object, additionalProperties: {}}}",
            to("A", "")
        )),
        three(""),
        three(&outside),
    ];
    judge(&texts, Accept, Refuse);
    let (message, path) = &library(&texts[5])[0];
    assert_eq!(
        message,
        "Detected circular reference: A -> x -> B -> x -> C -> x -> A"
    );
    assert_eq!(path, "#/components/schemas/R/a/A/x/B/x/C/x");
}

#[test]
fn diamond() {
    let to = |name: &str| format!("{{$ref: '#/components/schemas/{name}'}}");
    let (b, c, d) = (to("B"), to("C"), to("D"));
    let text = format!(
        "A: {{properties: {{b: {b}, c: {c}}}}}, B: {{properties: {{d: {d}}}}}, C: {{properties: {{d: {d}}}}}, D: {{enum: [d]}}"
    );
    judge(&[schemas(&text)], Accept, Accept);
}

#[test]
fn properties_named_like_keywords_of_xtp() {
    let names = [
        "type",
        "format",
        "enum",
        "items",
        "required",
        "properties",
        "additionalProperties",
    ];
    let properties = names
        .map(|name| format!("{name}: {{type: string}}"))
        .join(", ");
    let texts = [
        schemas(&format!("A: {{properties: {{{properties}}}}}")),
        schemas("type: {enum: [a]}"),
        "{version: v1-draft, exports: {type: {}}}".to_owned(),
    ];
    judge(&texts, Accept, Accept);
}

/// The schema of servlets that all hosts share, and its newer parts.
#[test]
fn servlet_interface() {
    let text = include_str!("../../../../../schema.yaml");
    judge(&[text.to_owned()], Accept, Accept);
    let warnings = parse(text, Mode::Compat).unwrap().warnings().to_string();
    for message in [
        "`params` is a keyword in csharp\n",
        "`type` is a keyword in go, rust\n",
    ] {
        assert!(warnings.contains(message), "{message}");
    }
}

#[test]
fn types_with_a_scalar_enum() {
    let types: Vec<String> = (0..75)
        .map(|n| format!("T{n}: {{properties: {{}}}}"))
        .collect();
    let sound = format!(
        "{}, M: {{enum: [form]}}, N: {{enum: [url]}}",
        types.join(", ")
    );
    judge(&[schemas(&sound)], Accept, Accept);
    let scalar = sound.replace("[form]", "form").replace("[url]", "url");
    judge(&[schemas(&scalar)], Refuse, Accept);
    let rust = xtp_codegen::generate(
        &Input::new("schema.yaml", &schemas(&scalar)),
        &xtp_codegen::Options::new(),
    );
    assert!(
        rust.unwrap()
            .contains("#[serde(rename = \"form\")]\n    Form,")
    );
}
