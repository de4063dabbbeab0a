//! The library's own test suite, with documents of our own for the same features.

use xtp_codegen::{Input, Mode, Options, Schema};

use crate::{library, published, yaml};

const VALID: &str = include_str!("valid.yaml");

fn paths(text: &str) -> Vec<String> {
    library(text).into_iter().map(|(_, path)| path).collect()
}

#[test]
fn no_version() {
    assert_eq!(paths("{}"), ["#/version"]);
}

#[test]
fn valid_document() {
    assert_eq!(library::report(VALID), library::Report::default());
    let document = yaml::to_json(VALID);
    let count = |map: &serde_json::Value| map.as_object().unwrap().len();
    assert_eq!(count(&document["exports"]), 3);
    assert_eq!(count(&document["imports"]), 1);
    assert_eq!(count(&document["components"]["schemas"]), 5);
}

fn generated() -> String {
    let schema = Schema::parse(&Input::new("valid.yaml", VALID)).unwrap();
    schema.to_rust(&Options::new()).unwrap()
}

#[test]
fn every_kind_of_property() {
    let rust = generated();
    for line in [
        "    /// Another description.\n    pub ghost: GhostGang,",
        "pub a_boolean: bool,",
        "pub a_string: Option<String>,",
        "pub an_int: Option<i32>,",
        "pub an_optional_date: Option<String>,",
        "pub a_map: Option<::std::collections::BTreeMap<String, String>>,",
        "pub an_int_ref: Option<MyInt>,",
        "pub type MyInt = i64;",
        "::std::collections::BTreeMap<String, Vec<Option<String>>>,",
        "pub free_form: Option<::serde_json::Map<String, ::serde_json::Value>>,",
        "pub a_uint8: Option<u8>,",
        "pub an_int8: Option<i8>,",
        "pub a_uint16: Option<u16>,",
        "pub an_int16: Option<i16>,",
        "pub a_uint32: Option<u32>,",
        "pub an_int32: Option<i32>,",
        "pub a_uint64: Option<u64>,",
        "pub kind: Option<ComplexObjectKind>,",
        "pub format: Option<ComplexObjectFormat>,",
        "pub complex_object: Option<String>,",
        "pub name_with_2341: Option<String>,",
    ] {
        assert!(rust.contains(line), "{line}\n{rust}");
    }
}

#[test]
fn map_as_a_schema() {
    assert!(
        generated().contains("pub type MapSchema = ::std::collections::BTreeMap<String, i64>;")
    );
}

#[test]
fn types_and_formats() {
    let text = "
version: v1-draft
exports:
  invalidFunc1:
    input: {type: buffer, format: date-time, contentType: application/json}
    output: {type: string, format: float, contentType: application/json}
components:
  schemas:
    ComplexObject:
      properties:
        aBoolean: {type: boolean, format: date-time}
        aString: {type: string, format: int32}
        anInt: {type: integer, format: date-time}
        aNonType: {type: non}
";
    let properties = "#/components/schemas/ComplexObject/properties";
    assert_eq!(
        paths(text),
        [
            "#/exports/invalidFunc1/input",
            "#/exports/invalidFunc1/output",
            &format!("{properties}/aBoolean"),
            &format!("{properties}/aString"),
            &format!("{properties}/anInt"),
            &format!("{properties}/aNonType"),
        ]
    );
}

#[test]
fn references() {
    let text = "
version: v1-draft
exports:
  invalidFunc:
    input: {$ref: '#/components/schemas/Gone', contentType: application/json}
    output: {$ref: '#/components/schemas/Left', contentType: application/json}
imports:
  invalidImport:
    output: {$ref: '#/components/schemas/GoneToo', contentType: application/json}
components:
  schemas:
    ComplexObject:
      required: [ghost]
      properties:
        invalidPropRef: {$ref: some invalid ref}
";
    let schema = "#/components/schemas/ComplexObject";
    assert_eq!(
        paths(text),
        [
            "#/exports/invalidFunc/input/$ref",
            "#/exports/invalidFunc/output/$ref",
            "#/imports/invalidImport/output/$ref",
            schema,
            &format!("{schema}/properties/invalidPropRef/$ref"),
        ]
    );
}

#[test]
fn cycle() {
    let text = "
version: v1-draft
exports: {}
components:
  schemas:
    ComplexObject: {properties: {cycle: {$ref: '#/components/schemas/AnotherType'}}}
    AnotherType: {properties: {complexObject: {$ref: '#/components/schemas/ComplexObject'}}}
";
    assert_eq!(
        library(text),
        [(
            "Detected circular reference: ComplexObject -> cycle -> AnotherType -> complexObject -> ComplexObject".to_owned(),
            "#/components/schemas/ComplexObject/cycle/AnotherType/complexObject".to_owned(),
        )]
    );
}

#[test]
fn identifiers() {
    let text = "
version: v1-draft
exports: {invalid@Func: {}, invalid invalid: {}, referenc/eTypeFunc: {}}
imports: {'eatA:Fruit': {}}
components:
  schemas:
    Ghost)Gang: {enum: [blinky, spooky ghost]}
    ComplexObject: {properties: {gh ost: {type: string}, 'aBoo{lean': {type: boolean}}}
";
    let properties = "#/components/schemas/ComplexObject/properties";
    assert_eq!(
        paths(text),
        [
            "#/exports/invalid@Func",
            "#/exports/invalid invalid",
            "#/exports/referenc/eTypeFunc",
            "#/imports/eatA:Fruit",
            "#/components/schemas/Ghost)Gang",
            "#/components/schemas/Ghost)Gang/enum",
            &format!("{properties}/gh ost"),
            &format!("{properties}/aBoo{{lean"),
        ]
    );
}

#[test]
fn additional_properties() {
    let text = "
version: v1-draft
exports: {}
components:
  schemas:
    ValidUse: {type: object, additionalProperties: {type: string}}
    NonObjectType: {properties: {myMap: {type: string, additionalProperties: {type: string}}}}
    MixedObject: {properties: {a: {type: string}}, additionalProperties: {type: string}}
";
    let parent =
        "The parent type must be 'object' when using additionalProperties but your type is";
    let mixed =
        "We currently do not support objects with both fixed properties and additionalProperties";
    let at = |name: &str| format!("#/components/schemas/{name}");
    assert_eq!(
        library(text),
        [
            (
                format!("{parent} string"),
                at("NonObjectType/properties/myMap")
            ),
            (mixed.to_owned(), at("MixedObject")),
            (format!("{parent} undefined"), at("MixedObject")),
        ]
    );
}

#[test]
fn keywords() {
    let text = "
version: v1-draft
exports: {'false': {}}
imports: {'true': {}}
components:
  schemas:
    Break:
      properties: {addrspace: {type: string}, alignas: {type: string}, abstract: {type: string}, as: {type: string}, and: {type: string}, interface: {type: string}, type: {type: string}}
";
    assert!(library::report(text).accepted());
    let schema = Schema::parse(&Input::new("schema.yaml", text).mode(Mode::Compat)).unwrap();
    let keywords: Vec<_> = schema
        .warnings()
        .iter()
        .filter_map(|found| found.message.split_once(" is a keyword in "))
        .collect();
    assert_eq!(keywords.len(), 10);
    let languages = |name: &str| {
        let quoted = format!("`{name}`");
        let found = keywords.iter().find(|(found, _)| *found == quoted);
        found.unwrap().1.replace(", ", ",")
    };
    for (name, expected) in [
        ("Break", "python,go,csharp,rust,cpp,zig"),
        ("abstract", "csharp,rust"),
        ("addrspace", "zig"),
        ("alignas", "cpp"),
        ("and", "python,cpp,zig"),
        ("as", "python,csharp,rust"),
        ("interface", "go,csharp"),
        ("type", "go,rust"),
        ("false", "python,csharp,rust,cpp"),
        ("true", "python,csharp,rust,cpp"),
    ] {
        assert_eq!(languages(name), expected);
    }
}

#[test]
fn published_rules() {
    let text = "
version: v1-draft
exports: {}
idontbelonghere: {}
components:
  schemas: {A: true}
  idontbelonghere: {}
";
    let found = published::violations(&yaml::to_json(text));
    assert_eq!(found.len(), 3, "{found:?}");
    let problems = Schema::parse(&Input::new("schema.yaml", text)).unwrap_err();
    let pointers: Vec<_> = problems.iter().map(|p| p.pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "#/idontbelonghere",
            "#/components/schemas/A",
            "#/components/idontbelonghere"
        ]
    );
}
