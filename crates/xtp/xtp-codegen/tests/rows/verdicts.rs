//! The verdicts of the published rules and the official library on the same schema, and ours.

use xtp_codegen::{Input, Mode, Schema, compat};

use crate::{Row, input, library, property, published, schemas, yaml};

use Verdict::{Accept, Crash, Refuse};

/// A verdict on a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Accept,
    Refuse,
    /// Fails without an answer.
    Crash,
}

pub(crate) const TITLES: [&str; 29] = [
    "v0 with an illegal identifier or another key",
    "v0 without exports, or with a map of them",
    "v1 without exports",
    "exports as a list",
    "empty export",
    "unknown keys",
    "content type missing or unknown",
    "values of the wrong kind",
    "reference to something else",
    "reference into a schema",
    "reference beside a type",
    "schema that is neither object nor enum",
    "object schema with a type",
    "map without a type",
    "additional properties that are anything",
    "additional properties that are nothing",
    "nested and inline types",
    "values of maps and items of lists",
    "formats of other types",
    "enum without values or with one twice",
    "enum that is a string",
    "enum of numbers or odd words",
    "required but not defined",
    "problems within lists and maps",
    "cycles",
    "diamond",
    "properties named like keywords of XTP",
    "servlet interface",
    "77 types with a scalar enum",
];

pub(crate) const ROWS: [Row; 29] = [
    ("v0 with an illegal identifier or another key", v0_lax),
    ("v0 without exports, or with a map of them", v0_exports),
    ("v1 without exports", no_exports),
    ("exports as a list", exports_list),
    ("empty export", empty_export),
    ("unknown keys", unknown_keys),
    ("content type missing or unknown", content_type),
    ("values of the wrong kind", wrong_kinds),
    ("reference to something else", reference_elsewhere),
    ("reference into a schema", reference_deeper),
    ("reference beside a type", reference_and_type),
    ("schema that is neither object nor enum", other_schemas),
    ("object schema with a type", typed_object),
    ("map without a type", untyped_map),
    ("additional properties that are anything", extra_true),
    ("additional properties that are nothing", extra_false),
    ("nested and inline types", nested),
    ("values of maps and items of lists", elements),
    ("formats of other types", formats),
    ("enum without values or with one twice", enum_lists),
    ("enum that is a string", enum_string),
    ("enum of numbers or odd words", enum_numbers),
    ("required but not defined", required),
    ("problems within lists and maps", twice),
    ("cycles", cycles),
    ("diamond", diamond),
    ("properties named like keywords of XTP", like_keywords),
    ("servlet interface", interface),
    ("77 types with a scalar enum", seventy_seven),
];

fn parse(text: &str, mode: Mode) -> Result<Schema, String> {
    let input = Input::new("schema.yaml", text).mode(mode);
    Schema::parse(&input).map_err(|problems| problems.to_string())
}

/// Checks both verdicts on the documents, and that our modes agree. By default we accept what the library accepts.
fn judge(texts: &[String], published: Verdict, library: Verdict) {
    for text in texts {
        let found = published::violations(&yaml::to_json(text));
        assert_eq!(found.is_empty(), published == Accept, "{text}\n{found:?}");
        let report = compat::report("schema.yaml", text).unwrap();
        let verdict = match (report.accepted(), report.crashed) {
            (true, _) => Accept,
            (false, true) => Crash,
            (false, false) => Refuse,
        };
        assert_eq!(verdict, library, "{text}\n{report:?}");
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

fn v0_lax() {
    let texts = [
        "{version: v0, exports: ['a b']}",
        "{version: v0, exports: [a], imports: {}}",
    ];
    judge(&each(&texts, plain), Refuse, Accept);
}

fn v0_exports() {
    let texts = ["{version: v0}", "{version: v0, exports: {a: {}}}"];
    judge(&each(&texts, plain), Refuse, Crash);
}

fn no_exports() {
    let texts = ["{version: v1-draft}", "{version: v1-draft, exports: null}"];
    judge(&each(&texts, plain), Refuse, Accept);
}

fn exports_list() {
    let text = "{version: v1-draft, exports: [a, b]}";
    judge(&[plain(text)], Refuse, Refuse);
    let names: Vec<_> = library(text).into_iter().map(|(_, path)| path).collect();
    assert_eq!(names, ["#/exports/0", "#/exports/1"]);
}

fn empty_export() {
    judge(
        &[plain("{version: v1-draft, exports: {foo: }}")],
        Refuse,
        Crash,
    );
}

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

fn content_type() {
    let texts = [
        "{type: string}",
        "{type: string, contentType: text/plain}",
        "{type: string, contentType: text/plain; charset=UTF-8}",
    ];
    judge(&each(&texts, input), Refuse, Accept);
}

fn wrong_kinds() {
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

fn reference_elsewhere() {
    let texts = [
        "{$ref: '#/exports/g'}",
        "{$ref: 'other.yaml#/components/schemas/B'}",
    ];
    judge(&each(&texts, property), Refuse, Refuse);
}

fn reference_deeper() {
    judge(
        &[property("{$ref: '#/components/schemas/B/properties/x'}")],
        Refuse,
        Accept,
    );
}

fn reference_and_type() {
    judge(
        &[property("{$ref: '#/components/schemas/B', type: string}")],
        Refuse,
        Accept,
    );
}

fn other_schemas() {
    let texts = [
        "A: {$ref: '#/components/schemas/B'}, B: {enum: [b]}",
        "A: {type: integer}",
        "A: {type: array, items: {type: string}}",
        "A: {type: object, additionalProperties: {type: string}}",
        "A: {type: buffer}",
    ];
    judge(&each(&texts, schemas), Refuse, Accept);
}

fn typed_object() {
    judge(
        &[schemas(
            "A: {type: object, properties: {a: {type: string}}}",
        )],
        Refuse,
        Accept,
    );
}

fn untyped_map() {
    judge(
        &[property("{additionalProperties: {type: string}}")],
        Accept,
        Refuse,
    );
}

fn extra_true() {
    judge(
        &[property("{type: object, additionalProperties: true}")],
        Refuse,
        Crash,
    );
}

fn extra_false() {
    let text = schemas("A: {properties: {a: {type: string}}, additionalProperties: false}");
    judge(&[text], Refuse, Accept);
}

fn nested() {
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

fn elements() {
    let texts = [
        "{type: object, additionalProperties: {$ref: '#/components/schemas/B'}}",
        "{type: object, additionalProperties: {type: string, nullable: true}}",
        "{type: object, additionalProperties: {type: array, items: {type: string}}}",
        "{type: array, items: {type: object, additionalProperties: {type: string}}}",
    ];
    judge(&each(&texts, property), Accept, Accept);
}

fn formats() {
    let texts = [
        "{type: buffer, format: byte}",
        "{type: number, format: int32}",
    ];
    judge(&each(&texts, property), Accept, Refuse);
    judge(&[property("{format: int32}")], Refuse, Refuse);
}

fn enum_lists() {
    judge(
        &each(&["A: {enum: []}", "A: {enum: [a, a]}"], schemas),
        Accept,
        Accept,
    );
}

fn enum_string() {
    judge(&[schemas("A: {enum: form}")], Refuse, Accept);
}

fn enum_numbers() {
    judge(&[schemas("A: {enum: [1, 2]}")], Refuse, Crash);
    judge(&[schemas("A: {enum: [a-b]}")], Refuse, Refuse);
}

fn required() {
    let text = schemas("A: {properties: {a: {type: string}}, required: [b]}");
    judge(&[text], Accept, Refuse);
}

fn twice() {
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

fn diamond() {
    let to = |name: &str| format!("{{$ref: '#/components/schemas/{name}'}}");
    let (b, c, d) = (to("B"), to("C"), to("D"));
    let text = format!(
        "A: {{properties: {{b: {b}, c: {c}}}}}, B: {{properties: {{d: {d}}}}}, C: {{properties: {{d: {d}}}}}, D: {{enum: [d]}}"
    );
    judge(&[schemas(&text)], Accept, Accept);
}

fn like_keywords() {
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
fn interface() {
    let text = include_str!("../../../../../schema.yaml");
    judge(&[text.to_owned()], Accept, Accept);
    let report = compat::report("schema.yaml", text).unwrap();
    let about = |name: &str| {
        let start = format!("Potentially Invalid identifier: \"{name}\"");
        let mut warnings = report.warnings.iter();
        warnings
            .find(|found| found.message.starts_with(&start))
            .map(|found| {
                found
                    .message
                    .rsplit(": ")
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
    };
    assert_eq!(about("params").as_deref(), Some("csharp"));
    assert_eq!(about("type").as_deref(), Some("go,rust"));
}

fn seventy_seven() {
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
