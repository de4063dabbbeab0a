//! Defects of the official generator for Rust that this generator does not have.
//!
//! The types are those of the goldens, which compile natively and for wasm. The tests of the glue have the defects of the
//! glue.

use std::path::Path;
use std::process::Command;

use mcp_servlet::xtp::Bytes;
use serde_json::{Value, json};
use xtp_goldens::{
    aliases, bytes, collisions, empty, inline, lists_and_maps, names, scalars, shadowed_names,
    word_splitting,
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

/// Reads and writes again without a change.
fn keeps<T>(value: Value)
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let read: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), value);
}

#[test]
fn typed_map() {
    keeps::<aliases::Ages>(json!({"a": 255}));
    keeps::<aliases::Deep>(json!({"a": {"b": ["2024-07-23T16:03:34.000Z", null]}}));
    keeps::<lists_and_maps::Containers>(json!({
        "names": [], "points": [], "byName": {"p": {"x": 1.0, "y": 2.0}}, "matrix": [],
    }));
}

#[test]
fn optional_or_nullable_buffer() {
    keeps::<bytes::File>(json!({"content": "AAH/", "maybe": null}));
    keeps::<bytes::File>(json!({"content": "", "maybe": "AAH/", "optional": "AAH/"}));
}

#[test]
fn buffer_in_a_list_in_a_map_alone() {
    keeps::<bytes::File>(json!({
        "content": "AAH/", "maybe": null, "parts": ["AAH/", ""], "byName": {"a": "AAH/", "b": null},
    }));
    assert_eq!(
        serde_json::to_string(&Bytes::from(vec![0, 1, 255])).unwrap(),
        "\"AAH/\""
    );
    keeps::<aliases::Blob>(json!("AAH/"));
}

#[test]
fn widths_of_integers() {
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

#[test]
fn array_without_items_object_without_properties() {
    keeps::<empty::Holder>(json!({
        "empty": {}, "values": "x", "list": [1, null], "free": {"a": 1}, "map": {"b": [2]}, "any": null,
    }));
}

#[test]
fn inline_enum() {
    keeps::<inline::Order>(json!({"kind": "later", "address": {"street": "x"}}));
    assert_eq!(inline::OrderKind2::default().as_str(), "now");
}

#[test]
fn dollar_in_a_name() {
    keeps::<names::HttpRequest>(json!({
        "type": "", "self": "", "_meta": "", "name$With2341": "a", "$": "b",
    }));
}

#[test]
fn path_words() {
    keeps::<word_splitting::HttpServer>(json!({"userID": "", "crate": "a", "super": "b"}));
    keeps::<collisions::Foo>(json!({"self": "a", "Self": "b"}));
    keeps::<Vec<collisions::Words>>(json!(["self", "Self"]));
}

#[test]
fn capitalized_keywords() {
    keeps::<word_splitting::HttpServer>(json!({"userID": "", "Type": "a", "Fn": "b"}));
}

#[test]
fn names_that_collide() {
    keeps::<collisions::Foo>(json!({"fooBar": "a", "foo_bar": 1, "FooBar": true}));
    keeps::<Vec<collisions::Words>>(json!(["foo", "Foo", "FOO"]));
    keeps::<collisions::Foo2>(json!({}));
    // An enum without values accepts any string.
    keeps::<empty::NoValues>(json!("x"));
}

#[test]
fn names_of_the_prelude() {
    keeps::<shadowed_names::User>(json!({
        "option": {"a": "x"}, "string": "y", "vec": [{}], "result": "Ok", "map": {"k": {"a": "z"}},
    }));
}

/// The crates of dates need no JavaScript.
#[test]
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

#[test]
fn schemas_that_are_neither_object_nor_enum() {
    let user = json!({"id": 7, "name": null, "also": 8, "points": [{"x": 1.0}], "meta": {"a": 1}});
    keeps::<aliases::User>(user);
    keeps::<aliases::Grid>(json!([[{"x": 1.0}], []]));
}
