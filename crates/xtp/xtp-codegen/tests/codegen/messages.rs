//! The messages and paths of the official library.

use xtp_codegen::{Input, Mode, Schema};

use crate::{library, property, schemas};

const A: &str = "#/components/schemas/A/properties/a";

/// Checks that the library reports exactly these messages.
fn says(text: &str, expected: &[(&str, &str)]) {
    let reported = library(text);
    let found: Vec<_> = reported
        .iter()
        .map(|(m, p)| (m.as_str(), p.as_str()))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn bad_version() {
    for (text, shown) in [
        ("{}", "undefined"),
        ("{version: v2}", "v2"),
        ("{version: 1}", "1"),
        ("{version: null}", "null"),
    ] {
        let message = format!("version property not valid: {shown}");
        says(text, &[(&message, "#/version")]);
    }
}

const TYPES: &str =
    "Options are: ['string', 'number', 'integer', 'boolean', 'object', 'array', 'buffer']";

#[test]
fn bad_type() {
    let message = format!("Invalid type 'text'. {TYPES}");
    says(&property("{type: text}"), &[(&message, A)]);
    let message = format!("Invalid type '[\"string\",\"null\"]'. {TYPES}");
    says(&property("{type: [string, 'null']}"), &[(&message, A)]);
}

#[test]
fn bad_format() {
    for (text, message) in [
        (
            "{format: byte}",
            "Invalid format byte for type undefined. Valid formats are: []",
        ),
        (
            "{type: string, format: int32}",
            "Invalid format int32 for type string. Valid formats are: [date-time, byte]",
        ),
        (
            "{type: number, format: byte}",
            "Invalid format byte for type number. Valid formats are: [float, double]",
        ),
        (
            "{type: integer, format: float}",
            "Invalid format float for type integer. Valid formats are: [uint8, int8, uint16, int16, uint32, int32, uint64, int64]",
        ),
        (
            "{type: buffer, format: byte}",
            "Invalid format byte for type buffer. Valid formats are: []",
        ),
    ] {
        says(&property(text), &[(message, A)]);
    }
}

#[test]
fn fixed_and_additional_properties() {
    let text =
        "A: {type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}";
    let message =
        "We currently do not support objects with both fixed properties and additionalProperties";
    says(&schemas(text), &[(message, "#/components/schemas/A")]);
}

#[test]
fn required_but_missing() {
    let text = schemas("A: {properties: {a: {type: string}}, required: [b]}");
    let message = "Property b is marked as required but not defined";
    says(&text, &[(message, "#/components/schemas/A")]);
}

#[test]
fn identifier() {
    let rule = "Must match /^[a-zA-Z_$][a-zA-Z0-9_$]*$/";
    let one = format!("Invalid identifier: \"a/b\". {rule}");
    let two = format!("Invalid identifier: \"a b\". {rule}");
    says(
        &schemas("a/b: {enum: [a b]}"),
        &[
            (&one, "#/components/schemas/a/b"),
            (&two, "#/components/schemas/a/b/enum"),
        ],
    );
    says(
        &schemas("A: {properties: {a b: {type: string}}}"),
        &[(&two, "#/components/schemas/A/properties/a b")],
    );
}

#[test]
fn type_of_an_enum_item() {
    let text = schemas("A: {enum: [1]}");
    let message = "Enum item must be a string: 1";
    says(&text, &[(message, "#/components/schemas/A")]);
    assert!(library::report(&text).crashed.is_some());
}

#[test]
fn map_that_is_not_an_object() {
    let message =
        "The parent type must be 'object' when using additionalProperties but your type is ";
    says(
        &property("{type: string, additionalProperties: {type: string}}"),
        &[(&format!("{message}string"), A)],
    );
    says(
        &property("{additionalProperties: {type: string}}"),
        &[(&format!("{message}undefined"), A)],
    );
}

#[test]
fn target_of_a_reference() {
    let text =
        schemas("A: {properties: {m: {type: array, items: {$ref: '#/components/schemas/Nope'}}}}");
    let message =
        "Invalid $ref \"#/components/schemas/Nope\". Cannot find schema \"Nope\". Options are: [A]";
    let m = "#/components/schemas/A/properties/m";
    let (own, parent) = (format!("{m}/items/$ref"), format!("{m}/$ref"));
    says(&text, &[(message, &parent), (message, &own)]);
    says(&property("{$ref: '#/components/schemas/B/enum/b'}"), &[]);
}

#[test]
fn form_of_a_reference() {
    for reference in ["some invalid ref", "#/exports/g", "other.yaml#/A"] {
        let message = format!("Invalid $ref \"{reference}\"");
        let path = format!("{A}/$ref");
        says(
            &property(&format!("{{$ref: '{reference}'}}")),
            &[(&message, &path)],
        );
    }
}

#[test]
fn cycle() {
    let to = |name: &str| format!("{{$ref: '#/components/schemas/{name}'}}");
    let text = |items: &str, values: &str| {
        schemas(&format!(
            "A: {{properties: {{prop: {items}}}}}, B: {{properties: {{prop2: {values}}}}}"
        ))
    };
    says(
        &text(&to("B"), &to("A")),
        &[(
            "Detected circular reference: A -> prop -> B -> prop2 -> A",
            "#/components/schemas/A/prop/B/prop2",
        )],
    );
    let list = format!("{{type: array, items: {}}}", to("B"));
    let map = format!("{{type: object, additionalProperties: {}}}", to("A"));
    says(
        &text(&list, &map),
        &[(
            "Detected circular reference: A -> prop -> items -> B -> prop2 -> additionalProperties -> value -> A",
            "#/components/schemas/A/prop/items/B/prop2/additionalProperties/value",
        )],
    );
}

/// The library's message is a warning. It lists the same languages.
#[test]
fn keyword() {
    let text = schemas("Break: {enum: [x]}");
    let schema = Schema::parse(&Input::new("schema.yaml", &text).mode(Mode::Compat)).unwrap();
    let warnings = schema.warnings().to_string();
    let message = "`Break` is a keyword in python, go, csharp, rust, cpp, zig\n";
    assert!(warnings.contains(message), "{warnings}");
    assert!(library::report(&text).accepted());
}
