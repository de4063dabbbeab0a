//! `oneOf`: when its members can be distinguished, and the problems if they cannot.

use serde_json::{Value, json};
use xtp_codegen::{Code, Diagnostics, Input, Mode, Schema};
use xtp_goldens::{one_of, one_of_declared};

const MEMBERS: &str = "
Plain: {properties: {a: {type: string}}}
Circle: {required: [kind], properties: {kind: {enum: [circle]}, radius: {type: number}}}
Square: {required: [kind], properties: {kind: {enum: [square]}, side: {type: number}}}
Loose: {properties: {kind: {enum: [loose]}}}
Named: {required: [kind], properties: {kind: {type: string}}}
Text: {type: string}
Word: {enum: [one, two]}";

fn parsed(union: &str, mode: Mode, one_of: bool) -> Result<Schema, Diagnostics> {
    let schemas = format!("{MEMBERS}\nU: {{{union}}}").replace('\n', "\n    ");
    let text = format!("version: v1-draft\nexports: {{}}\ncomponents:\n  schemas:{schemas}\n");
    Schema::parse(&Input::new("schema.yaml", &text).mode(mode).one_of(one_of))
}

fn members(names: &[&str]) -> String {
    let members = names
        .iter()
        .map(|name| format!("{{$ref: '#/components/schemas/{name}'}}"));
    format!("oneOf: [{}]", members.collect::<Vec<_>>().join(", "))
}

fn refused(names: &[&str], more: &str) -> String {
    let union = format!("{}{more}", members(names));
    match parsed(&union, Mode::Lenient, true) {
        Ok(_) => panic!("{union} is taken"),
        Err(problems) => {
            assert!(
                problems.iter().any(|problem| problem.code == Code::Union),
                "{problems}"
            );
            problems.to_string()
        }
    }
}

#[test]
fn without_the_flag_the_flag_is_named_in_every_mode() {
    for mode in [Mode::Lenient, Mode::Compat, Mode::Strict] {
        let union = format!(
            "{}, discriminator: {{propertyName: kind}}",
            members(&["Circle"])
        );
        let found = match parsed(&union, mode, false) {
            Ok(schema) => schema.warnings().to_string(),
            Err(problems) => problems.to_string(),
        };
        assert!(
            found.contains("`oneOf` is a proposal that is not part of XTP"),
            "{found}"
        );
        assert!(found.contains("generate with `--one-of`"), "{found}");
        assert!(!found.contains("the type is missing"), "{found}");
    }
}

#[test]
fn refuses_ambiguous_members() {
    let message = refused(&["Plain", "Circle"], "");
    assert!(
        message.contains("values of `Circle` may be taken for `Plain`"),
        "{message}"
    );
    assert!(
        message.contains("add `discriminator: {propertyName: type}`"),
        "{message}"
    );
    refused(&["Text", "Word"], "");
    refused(&["Loose", "Circle"], "");
    refused(&["Named", "Circle"], "");
    for fine in [
        &["Circle", "Plain"][..],
        &["Circle", "Square"],
        &["Text", "Circle"],
        &["Circle", "Loose"],
    ] {
        assert!(
            parsed(&members(fine), Mode::Lenient, true).is_ok(),
            "{fine:?}"
        );
    }
}

#[test]
fn a_tag_is_declared_by_all_members_or_by_none() {
    let tag = ", discriminator: {propertyName: kind}";
    let message = refused(&["Circle", "Plain"], tag);
    assert!(
        message.contains("`Plain` does not declare the tag `kind`"),
        "{message}"
    );
    let message = refused(&["Circle", "Named"], tag);
    assert!(
        message.contains("the tag `kind` of `Named` may have any value"),
        "{message}"
    );
    let message = refused(&["Circle", "Loose"], tag);
    assert!(
        message.contains("the tag `kind` of `Loose` may be absent"),
        "{message}"
    );
    let message = refused(&["Circle", "Circle"], tag);
    assert!(
        message.contains("two members of the union are tagged `circle`"),
        "{message}"
    );
    let message = refused(&["Circle", "Text"], tag);
    assert!(message.contains("`Text` is not an object"), "{message}");
    let other = ", discriminator: {propertyName: kind, mapping: {round: Circle}}";
    let message = refused(&["Circle", "Square"], other);
    assert!(
        message.contains("`mapping` has `round` for `Circle`, whose `kind` is `circle`"),
        "{message}"
    );
}

/// Reads and writes again.
fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned>(
    value: &Value,
) -> Result<Value, String> {
    let read = serde_json::from_value::<T>(value.clone()).map_err(|error| error.to_string())?;
    serde_json::to_value(&read).map_err(|error| error.to_string())
}

#[test]
fn a_declared_tag_is_read_and_written_once() {
    use one_of_declared::Shape;
    let square = json!({"kind": "square", "side": 2.0, "inner": {"kind": "circle", "radius": 1.0}});
    assert_eq!(round_trip::<Shape>(&square).as_ref(), Ok(&square));
    assert!(matches!(Shape::default(), Shape::Circle(_)));
    let written = serde_json::to_string(&Shape::default()).expect("JSON");
    assert_eq!(written, r#"{"kind":"circle","radius":0.0}"#);
    let message = round_trip::<Shape>(&json!({"kind": "oval"}));
    let expected = "`Shape` expects an object whose `kind` is one of `circle`, `square`, and what belongs to it";
    assert_eq!(message, Err(expected.to_owned()));
}

#[test]
fn distinguishes_members_without_a_tag_by_their_type() {
    for id in [json!(7), json!("seven")] {
        assert_eq!(round_trip::<one_of_declared::Id>(&id), Ok(id));
    }
    assert!(round_trip::<one_of_declared::Id>(&json!(null)).is_err());
    let shape = json!({"side": 2.0, "inner": {"radius": 1.0}});
    assert_eq!(round_trip::<one_of::Shape>(&shape), Ok(shape));
    let tagged = json!({"kind": "circle", "radius": 1.0});
    assert_eq!(round_trip::<one_of::Tagged>(&tagged), Ok(tagged));
}
