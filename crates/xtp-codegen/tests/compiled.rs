//! The generated code of small schemas, compiled and run.

#![deny(warnings)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Compiles what is expected, so that whatever is generated is known to be free of warnings.
macro_rules! compiled {
    ($($module:ident = $path:literal,)*) => {
        $(
            #[rustfmt::skip]
            #[path = $path]
            #[allow(dead_code, unreachable_pub, reason = "a test exports nothing")]
            mod $module;
        )*

        const COMPILED: &[&str] = &[$($path),*];
    };
}

compiled! {
    any_json = "golden/any-json/expected.rs",
    descriptions = "golden/descriptions/expected.rs",
    enum_conversions = "golden/enum-conversions/expected.rs",
    free_form = "golden/free-form/expected.rs",
    functions = "golden/functions/expected.rs",
    json_input = "golden/json-input/expected.rs",
    lists_and_maps = "golden/lists-and-maps/expected.rs",
    named = "golden/names/expected.rs",
    optionality = "golden/optionality/expected.rs",
    scalars = "golden/scalars/expected.rs",
    shadowed_names = "golden/shadowed-names/expected.rs",
}

#[test]
fn compiles_every_case() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(golden).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .map(|name| format!("golden/{name}/expected.rs"))
        .collect();
    names.sort();
    assert_eq!(names, COMPILED);
}

/// Reads and writes again; the result is what was read, but for what is expected to vanish.
fn round_trip<T: Serialize + DeserializeOwned>(from: &Value) -> Value {
    let value: T = serde_json::from_value(from.clone()).unwrap();
    serde_json::to_value(&value).unwrap()
}

#[test]
fn keeps_null_and_absence_apart_where_the_schema_does() {
    let full = json!({"must": "x", "mustNull": null, "mustTag": null});
    assert_eq!(round_trip::<optionality::Slot>(&full), full);
    let nulls = json!({"must": "x", "mustNull": null, "mustTag": "hot", "may": null, "mayNull": null, "mayList": null});
    let kept = json!({"must": "x", "mustNull": null, "mustTag": "hot"});
    assert_eq!(round_trip::<optionality::Slot>(&nulls), kept);
    let missing =
        serde_json::from_value::<optionality::Slot>(json!({"must": "x", "mustTag": null}));
    assert_eq!(missing.unwrap_err().to_string(), "missing field `mustNull`");
}

#[test]
fn keeps_a_null_that_is_any_json() {
    for value in [
        json!({"must": null}),
        json!({"must": null, "may": null}),
        json!({"must": {"a": [1]}, "may": "x"}),
    ] {
        assert_eq!(round_trip::<any_json::Answer>(&value), value);
    }
}

#[test]
fn reads_null_as_absent_where_an_object_is_free_form() {
    let value = json!({"schema": {"type": "object"}, "arguments": null, "unknown": 1});
    let kept = json!({"schema": {"type": "object"}});
    assert_eq!(round_trip::<free_form::Call>(&value), kept);
}

#[test]
fn keeps_wire_names() {
    let value = json!({
        "type": "a", "self": "b", "_meta": "c", "Resource": "d", "mimeType": "e", "userID": "f",
        "name$With2341": "g", "$": "h", "_1": "i", "gen": "j",
    });
    assert_eq!(round_trip::<named::HttpRequest>(&value), value);
    let words = json!(["self", "_1", "mod", "camelCase", "SHOUTING"]);
    assert_eq!(round_trip::<Vec<named::Word>>(&words), words);
}

#[test]
fn keeps_lists_maps_and_numbers() {
    let value = json!({
        "names": ["a"], "points": [{"x": 1.5, "y": -2.0}], "byName": {"p": {"x": 0.0, "y": 1e300}},
        "matrix": [[1.0], []], "holes": [1, null], "mapOfLists": {"m": ["2026-01-01T00:00:00Z", null]},
        "rows": [{}, {"a": null}],
    });
    assert_eq!(round_trip::<lists_and_maps::Containers>(&value), value);
    let large = serde_json::from_value::<scalars::Everything>(json!({"u8": 256}));
    assert!(large.unwrap_err().to_string().contains("expected u8"));
}

#[test]
fn constructs_with_required_fields() {
    let slot = optionality::Slot::new("x", None, Some(optionality::Tag::Cold));
    assert_eq!(slot.may, None);
    assert_eq!(optionality::Tag::default(), optionality::Tag::Hot);
    assert_eq!(
        lists_and_maps::Point::new(1.0, 2.0).y.to_bits(),
        2.0_f64.to_bits()
    );
    let parsed = "blood_orange".parse::<enum_conversions::Fruit>();
    assert_eq!(parsed.unwrap(), enum_conversions::Fruit::BloodOrange);
    assert_eq!(
        enum_conversions::Fruit::BloodOrange.to_string(),
        "blood_orange"
    );
}
