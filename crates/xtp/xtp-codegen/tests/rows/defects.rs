//! Defects of the official generator for Rust that this generator does not have.
//!
//! The types are those of the goldens, which compile natively and for wasm. Defects of the glue have their cases in
//! the tests of the glue; here a test checks that those exist.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcp_servlet::xtp::Bytes;
use serde_json::{Value, json};
use xtp_goldens::{
    aliases, bytes, collisions, empty, inline, lists_and_maps, names, scalars, shadowed_names,
    word_splitting,
};

use crate::Row;

pub(crate) const TITLES: [&str; 20] = [
    "1 typed map",
    "2 optional or nullable buffer",
    "3 buffer in a list, in a map, alone",
    "4 widths of integers",
    "5 array without items, object without properties",
    "6 inline enum",
    "7 dollar in a name",
    "8 self, crate, super, Self",
    "9 capitalized keywords",
    "10 import named by a keyword",
    "11 names that collide",
    "12 names of the prelude",
    "13 text or bytes of something else",
    "14 text of numbers",
    "15 text of enums and objects",
    "16 dates in wasm",
    "17 code samples that do not compile",
    "18 edition 2024",
    "19 schemas that are neither object nor enum",
    "20 many tools in one servlet",
];

pub(crate) const ROWS: [Row; 20] = [
    ("1 typed map", maps),
    ("2 optional or nullable buffer", optional_buffers),
    ("3 buffer in a list, in a map, alone", buffers_everywhere),
    ("4 widths of integers", widths),
    (
        "5 array without items, object without properties",
        empty_types,
    ),
    ("6 inline enum", inline_enum),
    ("7 dollar in a name", dollar),
    ("8 self, crate, super, Self", path_words),
    ("9 capitalized keywords", capitalized_keywords),
    ("10 import named by a keyword", || elsewhere(10)),
    ("11 names that collide", collide),
    ("12 names of the prelude", prelude),
    ("13 text or bytes of something else", || elsewhere(13)),
    ("14 text of numbers", || elsewhere(14)),
    ("15 text of enums and objects", || elsewhere(15)),
    ("16 dates in wasm", dates_in_wasm),
    ("17 code samples that do not compile", || elsewhere(17)),
    ("18 edition 2024", || elsewhere(18)),
    ("19 schemas that are neither object nor enum", other_schemas),
    ("20 many tools in one servlet", || elsewhere(20)),
];

/// The cases for defects of the glue: a file, and a string in it.
const ELSEWHERE: [(u8, &str, &str); 7] = [
    (
        10,
        "tests/e2e/plugins/names.rs",
        "#[test]\nfn exports_and_imports_have_the_names_of_the_schema()",
    ),
    (
        13,
        "crates/xtp/xtp-codegen/tests/glue.rs",
        "#[test]\nfn reports_types_that_a_content_type_cannot_represent()",
    ),
    (
        14,
        "crates/guest/mcp-servlet/tests/xtp.rs",
        "#[test]\nfn payloads_match_their_content_type()",
    ),
    (
        15,
        "tests/e2e/plugins/conformance.rs",
        "#[test]\nfn payloads_that_are_not_json_pass_as_they_are()",
    ),
    (
        17,
        "crates/xtp/xtp-codegen/tests/glue.rs",
        "#[test]\nfn code_samples_are_comments()",
    ),
    // The goldens, including glue, compile in the edition of the workspace.
    (18, "tests/goldens/Cargo.toml", "edition.workspace = true"),
    (
        20,
        "tests/e2e/calls.rs",
        "#[test]\nfn every_tool_answers_a_good_call()",
    ),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

fn elsewhere(row: u8) {
    let (_, file, mark) = ELSEWHERE
        .iter()
        .find(|(number, _, _)| *number == row)
        .unwrap();
    let text = fs::read_to_string(root().join(file)).unwrap();
    assert!(text.contains(mark), "{file} has no `{mark}`");
}

/// Reads and writes again without a change.
fn keeps<T>(value: Value)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let read: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), value);
}

fn maps() {
    keeps::<aliases::Ages>(json!({"a": 255}));
    keeps::<aliases::Deep>(json!({"a": {"b": ["2024-07-23T16:03:34.000Z", null]}}));
    keeps::<lists_and_maps::Containers>(json!({
        "names": [], "points": [], "byName": {"p": {"x": 1.0, "y": 2.0}}, "matrix": [],
    }));
}

fn optional_buffers() {
    keeps::<bytes::File>(json!({"content": "AAH/", "maybe": null}));
    keeps::<bytes::File>(json!({"content": "", "maybe": "AAH/", "optional": "AAH/"}));
}

fn buffers_everywhere() {
    keeps::<bytes::File>(json!({
        "content": "AAH/", "maybe": null, "parts": ["AAH/", ""], "byName": {"a": "AAH/", "b": null},
    }));
    assert_eq!(
        serde_json::to_string(&Bytes::from(vec![0, 1, 255])).unwrap(),
        "\"AAH/\""
    );
    keeps::<aliases::Blob>(json!("AAH/"));
}

fn widths() {
    let mut value = json!({
        "text": "", "day": "", "bytes": "", "flag": true, "number": 1.5, "float": 0.1,
        "double": 1e300, "integer": i64::MIN, "u8": u8::MAX, "i8": i8::MIN, "u16": u16::MAX,
        "i16": i16::MIN, "u32": u32::MAX, "i32": i32::MIN, "u64": u64::MAX, "i64": i64::MAX,
    });
    let text = serde_json::to_string(&value).unwrap();
    let read: scalars::Everything = serde_json::from_str(&text).unwrap();
    assert_eq!((read.u64, read.i64, read.u8), (u64::MAX, i64::MAX, u8::MAX));
    assert_eq!(read.float.to_bits(), 0.1_f32.to_bits());
    value["u8"] = json!(256);
    assert!(serde_json::from_value::<scalars::Everything>(value.clone()).is_err());
    value["u8"] = json!(1.5);
    assert!(serde_json::from_value::<scalars::Everything>(value).is_err());
}

fn empty_types() {
    keeps::<empty::Holder>(json!({
        "empty": {}, "values": "x", "list": [1, null], "free": {"a": 1}, "map": {"b": [2]}, "any": null,
    }));
}

fn inline_enum() {
    keeps::<inline::Order>(json!({"kind": "later", "address": {"street": "x"}}));
    assert_eq!(inline::OrderKind2::default().as_str(), "now");
}

fn dollar() {
    keeps::<names::HttpRequest>(json!({
        "type": "", "self": "", "_meta": "", "name$With2341": "a", "$": "b",
    }));
}

fn path_words() {
    keeps::<word_splitting::HttpServer>(json!({"userID": "", "crate": "a", "super": "b"}));
    keeps::<collisions::Foo>(json!({"self": "a", "Self": "b"}));
    keeps::<Vec<collisions::Words>>(json!(["self", "Self"]));
}

fn capitalized_keywords() {
    keeps::<word_splitting::HttpServer>(json!({"userID": "", "Type": "a", "Fn": "b"}));
}

fn collide() {
    keeps::<collisions::Foo>(json!({"fooBar": "a", "foo_bar": 1, "FooBar": true}));
    keeps::<Vec<collisions::Words>>(json!(["foo", "Foo", "FOO"]));
    keeps::<collisions::Foo2>(json!({}));
    // An enum without values accepts any string.
    keeps::<empty::NoValues>(json!("x"));
}

fn prelude() {
    keeps::<shadowed_names::User>(json!({
        "option": {"a": "x"}, "string": "y", "vec": [{}], "result": "Ok", "map": {"k": {"a": "z"}},
    }));
}

/// The crates of dates need no JavaScript.
fn dates_in_wasm() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--locked",
        "--package",
        "xtp-goldens",
        "--prefix",
        "none",
    ]);
    cargo.args(["--target", "wasm32-unknown-unknown", "--edges", "normal"]);
    let output = cargo.current_dir(root()).output().unwrap();
    let tree = String::from_utf8(output.stdout).unwrap();
    assert!(tree.contains("chrono") && tree.contains("jiff"), "{tree}");
    assert!(
        !tree.contains("wasm-bindgen") && !tree.contains("js-sys"),
        "{tree}"
    );
}

fn other_schemas() {
    let user = json!({"id": 7, "name": null, "also": 8, "points": [{"x": 1.0}], "meta": {"a": 1}});
    keeps::<aliases::User>(user);
    keeps::<aliases::Grid>(json!([[{"x": 1.0}], []]));
}
