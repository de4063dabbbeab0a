//! The generated code of small schemas, compiled and run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use xtp_codegen::{Input, Options, Schema};
use xtp_goldens::{
    any_json, enum_conversions, free_form, lists_and_maps, names as named, optionality,
    plugin_open, scalars,
};

/// The goldens are a package of their own, so that they also compile for wasm.
#[test]
fn compiles_every_case() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let entries = fs::read_dir(golden).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| format!("../../../crates/xtp/xtp-codegen/tests/golden/{name}/expected.rs"))
        .collect();
    names.sort();
    assert_eq!(names, xtp_goldens::GOLDENS);
}

#[test]
fn rustfmt_leaves_a_file_of_its_own_as_it_is() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(golden).unwrap() {
        let case = entry.unwrap().path();
        let name = case.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(case.join("schema.yaml")).unwrap();
        let input = Input::new("schema.yaml", &text).one_of(true);
        let Ok(schema) = Schema::parse(&input) else {
            continue;
        };
        let options = Options::for_plugin().own_file(true);
        for (kind, rust) in [
            ("types", schema.to_rust(&options)),
            ("plugin", schema.to_plugin(&options)),
        ] {
            files.push(folder.path().join(format!("{name}-{kind}.rs")));
            fs::write(files.last().unwrap(), rust.unwrap()).unwrap();
        }
    }
    assert!(files.len() > 50, "{}", files.len());
    // An author may configure a width other than the printer's.
    let config = ["--edition", "2024", "--check", "--config", "max_width=80"];
    let mut rustfmt = Command::new("rustfmt");
    let output = rustfmt.args(config).args(&files).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{messages}");
}

#[test]
fn raw_object_accepts_objects_only() {
    use plugin_open::Record;
    let record = json!({"foo": {"x": [1.5]}, "any": [1]});
    assert_eq!(round_trip::<Record>(&record), record);
    for other in [json!([]), json!("{}"), json!(1), json!(null)] {
        let wrong = json!({"foo": other, "any": other});
        assert!(serde_json::from_value::<Record>(wrong).is_err(), "{other}");
    }
    let written = serde_json::to_value(Record::default()).unwrap();
    assert_eq!(written, json!({"foo": {}, "any": null}));
}

/// Reads and writes again. The result equals the input, except what is expected to vanish.
fn round_trip<T: Serialize + DeserializeOwned>(from: &Value) -> Value {
    let value: T = serde_json::from_value(from.clone()).unwrap();
    serde_json::to_value(&value).unwrap()
}

#[test]
fn distinguishes_null_and_absence_as_the_schema_does() {
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
